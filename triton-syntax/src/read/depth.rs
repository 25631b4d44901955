//! How deep tokens are nested: the parser of Rust's grammar calls itself for each level, and must not run out of stack.

use crate::context::Context;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use triton_core::diag::Code;

/// The most levels of parentheses, brackets and braces, and the most operators before one operand. Unoptimised, the parser
/// takes some 17 KiB for a level, of the 8 MiB that rustc has.
const MOST: usize = 320;

/// An error instead of everything else, if tokens are nested too deeply to be parsed.
pub(crate) fn refuse(tokens: &TokenStream) -> Option<TokenStream> {
    let at = deepest(tokens)?;
    let mut cx = Context::default();
    let problem = cx.diagnostic(Code::T0118, &at, format!("tokens nested more than {MOST} deep"));
    cx.report(problem.help("bind parts of the expression with `let`"));
    let errors = cx.errors();
    Some(quote!(#errors))
}

/// The token at which the limit is reached.
fn deepest(tokens: &TokenStream) -> Option<TokenStream> {
    let mut levels = vec![tokens.clone().into_iter()];
    let mut operators = 0;
    while let Some(level) = levels.last_mut() {
        let Some(tree) = level.next() else {
            levels.pop();
            continue;
        };
        operators = if let TokenTree::Punct(_) = &tree { operators + 1 } else { 0 };
        if levels.len() > MOST || operators > MOST {
            return Some(tree.into());
        }
        if let TokenTree::Group(group) = tree {
            levels.push(group.stream().into_iter());
        }
    }
    None
}
