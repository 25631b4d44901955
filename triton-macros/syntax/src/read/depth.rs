//! How deep tokens are nested: the parser of Rust's grammar calls itself for each level, and must not run out of stack.

use crate::context::Context;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use triton_core::diag::Code;

/// The most levels of parentheses, brackets and braces, and the most operators before one operand. Unoptimised, the parser
/// takes some 17 KiB for a level, of the 8 MiB that rustc has. Of a type it takes 33, so that a level counts twice which begins with another, as
/// those of a type do.
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
    // Each with what it counts.
    let mut levels = vec![(tokens.clone().into_iter(), 1)];
    let (mut depth, mut operators) = (1, 0);
    while let Some((level, counts)) = levels.last_mut() {
        let Some(tree) = level.next() else {
            depth -= *counts;
            levels.pop();
            continue;
        };
        operators = if let TokenTree::Punct(_) = &tree { operators + 1 } else { 0 };
        if depth > MOST || operators > MOST {
            return Some(tree.into());
        }
        if let TokenTree::Group(group) = tree {
            let begins_with_another = matches!(group.stream().into_iter().next(), Some(TokenTree::Group(_)));
            let counts = if begins_with_another { 2 } else { 1 };
            depth += counts;
            levels.push((group.stream().into_iter(), counts));
        }
    }
    None
}
