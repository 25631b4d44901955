//! The passes and their order.
//!
//! A pass is a function in a file of its own; its module docs state the pattern before and after, what it requires and
//! what it guarantees. [`OPTIMISE`], [`LAY_OUT`] and [`SYNCHRONIZE`] are the pipeline, by the stages they lead to.
//!
//! **Invariant:** passes never see PTX, and the interpreter gives the same result before and after each of them.

pub mod combine;
pub mod cse;
pub mod dce;
pub mod fold;
pub mod licm;
pub mod pbqp;
pub mod place;
pub mod share;
pub mod specialise;
pub mod split;
pub mod sync;

use crate::ir::{Function, verify};
use crate::metadata::Specialization;

/// A pass, by the name that tests and dumps use.
pub struct Pass {
    /// The name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The pass, under a specialization.
    pub run: fn(&mut Function, Specialization) -> Result<(), String>,
}

macro_rules! passes {
    ($($name:ident: $doc:literal, $run:expr;)*) => { &[$(Pass { name: stringify!($name), doc: $doc, run: $run }),*] };
}

/// Stage 0, in the order in which they run.
pub const OPTIMISE: &[Pass] = passes! {
    fold: "evaluates compile-time constants", |func, _| { fold::fold(func); Ok(()) };
    combine: "simplifies operations on the results of others", |func, _| combine::combine(func);
    cse: "eliminates common subexpressions", |func, _| { cse::cse(func); Ok(()) };
    licm: "hoists loop invariants", |func, _| { licm::licm(func); Ok(()) };
    dce: "removes dead code", |func, _| { dce::dce(func); Ok(()) };
};

/// Stage 0 → 1: layouts, for a specialization.
pub const LAY_OUT: &[Pass] = passes! {
    specialise: "applies the facts of a specialization", specialise::specialise;
    place: "assigns a layout to every tile", place::place;
    split: "splits reductions between warps", |func, _| split::split(func);
};

/// Stage 1 → 2: exchanges through shared memory, and barriers.
pub const SYNCHRONIZE: &[Pass] = passes! {
    share: "lowers exchanges between threads to shared memory", |func, _| share::share(func);
    sync: "writes barriers", |func, _| sync::sync(func);
};

/// Runs passes, and checks the function after each.
///
/// # Errors
/// The name of the pass that broke the IR, and how: an internal compiler error.
pub fn run(passes: &[Pass], func: &mut Function, promise: Specialization) -> Result<(), String> {
    for pass in passes {
        (pass.run)(func, promise).map_err(|message| format!("in `{}`: {message}", pass.name))?;
        verify::verify(func).map_err(|errors| {
            let all: Vec<String> = errors.into_iter().map(|e| e.message).collect();
            format!("after `{}`: {}", pass.name, all.join("; "))
        })?;
    }
    Ok(())
}

/// Which layouts `place` chooses for optimised IR of stage 0 under a specialization, and their cost: see
/// [`place::explain`].
///
/// # Errors
/// As [`run`].
pub fn explain(func: &Function, promise: Specialization) -> Result<String, String> {
    let mut func = func.clone();
    specialise(&mut func, promise)?;
    place::explain(&func, promise)
}

/// What comes before layouts are chosen.
///
/// # Errors
/// As [`run`].
pub fn specialise(func: &mut Function, promise: Specialization) -> Result<(), String> {
    let before = LAY_OUT.iter().position(|pass| pass.name == "place").unwrap_or(0);
    run(&LAY_OUT[..before], func, promise)
}
