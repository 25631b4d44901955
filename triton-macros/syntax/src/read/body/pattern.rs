//! What a `let` binds, and a closure takes.

use crate::context::Context;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Pat;
use triton_core::ast;
use triton_core::diag::Code;

/// Converts a pattern, or reports that the language has no such pattern.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn convert(cx: &mut Context, written: &Pat) -> Option<ast::Pattern> {
    match written {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
            Some(ast::Pattern::Name { name: cx.ident(&pat.ident), mutable: pat.mutability.is_some() })
        }
        Pat::Wild(_) => Some(ast::Pattern::Wild),
        Pat::Paren(paren) => convert(cx, &paren.pat),
        Pat::Tuple(tuple) => {
            let elements: Vec<_> = tuple.elems.iter().map(|element| convert(cx, element)).collect();
            Some(ast::Pattern::Tuple(elements.into_iter().collect::<Option<_>>()?, cx.span_of(tuple)))
        }
        _ => {
            let problem = cx.diagnostic(Code::T0001, written, "this pattern is not part of the kernel language");
            cx.report(problem.help("write a name, `_`, or a tuple of these"));
            None
        }
    }
}

/// Converts a parameter of a closure: a name, `_`, or a tuple of these, all without `mut` and without types.
pub(crate) fn of_closure(cx: &mut Context, written: &Pat) -> Option<ast::Pattern> {
    let found = if let Pat::Type(typed) = written {
        Some((typed.ty.to_token_stream(), "a type on a closure's parameter is", "leave it out: the tile has it"))
    } else {
        first_mut(written).map(|token| (token, "`mut` on a closure's parameter is", "compute with `let` in its body"))
    };
    let Some((at, what, help)) = found else { return convert(cx, written) };
    let problem = cx.diagnostic(Code::T0016, &at, format!("{what} not part of the kernel language"));
    cx.report(problem.help(help));
    None
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn first_mut(written: &Pat) -> Option<TokenStream> {
    match written {
        Pat::Ident(pat) => pat.mutability.map(|token| token.to_token_stream()),
        Pat::Paren(paren) => first_mut(&paren.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().find_map(first_mut),
        _ => None,
    }
}
