//! What a `let` binds.

use crate::context::Context;
use crate::signature;
use syn::Pat;
use triton_core::ast;
use triton_core::diag::Code;

/// Converts a pattern, or reports that the language has no such pattern.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn convert(cx: &mut Context, written: &Pat) -> Option<ast::Pattern> {
    match written {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
            Some(ast::Pattern::Name { name: signature::ident(cx, &pat.ident), mutable: pat.mutability.is_some() })
        }
        Pat::Wild(_) => Some(ast::Pattern::Wild),
        Pat::Paren(paren) => convert(cx, &paren.pat),
        Pat::Tuple(tuple) => {
            let elements: Vec<_> = tuple.elems.iter().map(|element| convert(cx, element)).collect();
            Some(ast::Pattern::Tuple(elements.into_iter().collect::<Option<_>>()?, cx.place_of(tuple)))
        }
        _ => {
            let problem = cx.diagnostic(Code::T0001, written, "this pattern is not part of the kernel language");
            cx.report(problem.help("a `let` binds a name, `_`, or a tuple of these"));
            None
        }
    }
}
