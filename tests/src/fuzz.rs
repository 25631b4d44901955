//! Random token streams and mutated kernels through the attributes' parser and the compiler.
//!
//! Whatever a user writes ends in code or in an error of ours: nothing panics, and nothing is an internal compiler
//! error (`T0199`). `cargo run -p triton-tests -- --minutes 60` looks for a counterexample; each case is generated from
//! its number alone, so a finding is run again by `--case N`.

pub mod bytes;
pub mod corpus;
pub mod mutate;

use crate::numbers::Random;
use corpus::Seed;
use proc_macro2::TokenStream;
use quote::quote;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What goes into the attributes.
#[derive(Clone, Debug)]
pub struct Input {
    /// Which attribute.
    pub attribute: Attribute,
    /// What stands between its parentheses.
    pub args: TokenStream,
    /// What it stands on.
    pub item: TokenStream,
}

/// Where tokens enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// `#[triton::kernel(args)]`
    Kernel,
    /// `#[triton::function]`
    Function,
    /// `#[triton::constant]`
    Constant,
    /// `#[triton::params]`
    Params,
    /// What hidden macros pass on.
    Link,
}

impl Attribute {
    const ALL: [Attribute; 5] =
        [Attribute::Kernel, Attribute::Function, Attribute::Constant, Attribute::Params, Attribute::Link];
}

/// The input of this number.
pub fn input(seeds: &[Seed], case: u64) -> Input {
    let mut random = Random::new(case);
    let attribute =
        if random.below(8) < 5 { Attribute::Kernel } else { Attribute::ALL[random.below(Attribute::ALL.len())] };
    let seed = &seeds[random.below(seeds.len())];
    let other = &seeds[random.below(seeds.len())];
    let (args, item) = match random.below(16) {
        0 => (mutate::noise(&mut random, 20), mutate::noise(&mut random, 200)),
        1 => (seed.args.clone(), mutate::noise(&mut random, 200)),
        2 => (mutate::mutate(&mut random, seed.args.clone(), &other.args), seed.item.clone()),
        3 => (seed.args.clone(), mutate::nested(&mut random)),
        _ => (seed.args.clone(), mutate::mutate(&mut random, seed.item.clone(), &other.item)),
    };
    let item = match attribute {
        Attribute::Link => {
            let part = &other.item;
            let word = if random.below(8) == 0 { quote!(v0) } else { quote!(v1) };
            let whole = quote!(#word { kernel [] { #args } { #item } } { (helper => "1") ["1" "home" { #part } { (f => "1") }] });
            if random.once_in(2) { mutate::mutate(&mut random, whole, part) } else { whole }
        }
        Attribute::Kernel | Attribute::Function | Attribute::Constant | Attribute::Params => item,
    };
    Input { attribute, args, item }
}

/// Runs an input.
///
/// # Errors
/// It panicked, or reports an internal compiler error.
pub fn run(input: &Input) -> Result<(), String> {
    let Input { attribute, args, item } = input.clone();
    let output = catch_unwind(AssertUnwindSafe(|| match attribute {
        Attribute::Kernel => triton_syntax::kernel(args, item),
        Attribute::Function => triton_syntax::function(args, item),
        Attribute::Constant => triton_syntax::constant(args, item),
        Attribute::Params => triton_syntax::params(args, item),
        Attribute::Link => triton_syntax::link(item),
    }));
    let output = output.map_err(said)?;
    let text = output.to_string();
    match text.find("T0199") {
        None => Ok(()),
        Some(at) => Err(text[text[..at].rfind('"').unwrap_or(0)..].chars().take(600).collect()),
    }
}

/// What a panic says.
pub fn said(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
