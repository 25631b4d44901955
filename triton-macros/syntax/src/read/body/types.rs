//! Types as written in a kernel: `f32`, `T`, `Tile<f32>`.

use crate::context::{Context, spell};
use crate::read::path;
use syn::{Expr, ExprLit, ExprUnary, GenericArgument, Lit, PathArguments, Stmt, Type, UnOp};
use triton_core::ast;
use triton_core::diag::Code;

/// Converts a type, or reports that the language has no such type.
pub(crate) fn convert(cx: &mut Context, written: &Type) -> Option<ast::Type> {
    let ty = try_convert(cx, written);
    if ty.is_none() {
        let text = spell(written);
        let problem =
            cx.diagnostic(Code::T0001, written, format!("the type `{text}` is not part of the kernel language"));
        let what = if matches!(written, Type::Infer(_)) {
            "leave the annotation out, or write the type"
        } else {
            "types are element types and `Tile<T>`"
        };
        cx.report(problem.help(what));
    }
    ty
}

/// Converts the type of a function's parameter, which may be a function itself: `impl Fn(Tile<f32>) -> Tile<f32>`.
pub(crate) fn of_parameter(cx: &mut Context, written: &Type) -> Option<ast::Type> {
    let Type::ImplTrait(syn::TypeImplTrait { bounds, .. }) = written else { return convert(cx, written) };
    let function = match bounds.iter().collect::<Vec<_>>()[..] {
        [syn::TypeParamBound::Trait(syn::TraitBound { lifetimes: None, path, .. })] => path.segments.last(),
        _ => None,
    };
    let signature = function.filter(|last| last.ident == "Fn").map(|last| &last.arguments);
    let Some(PathArguments::Parenthesized(signature)) = signature else {
        let text = spell(written);
        let problem = cx.diagnostic(Code::T0005, written, format!("a function for kernels cannot take `{text}`"));
        cx.report(
            problem
                .help("a function as an argument is `impl Fn(Tile<f32>) -> Tile<f32>`, with the types that it takes"),
        );
        return None;
    };
    let mut args = Vec::new();
    for param in &signature.inputs {
        args.push(convert(cx, &param.ty)?);
    }
    args.push(match &signature.output {
        syn::ReturnType::Default => ast::Type::named(ast::Type::TUPLE, cx.span_of(written)),
        syn::ReturnType::Type(_, ty) => convert(cx, ty)?,
    });
    Some(ast::Type { args, ..ast::Type::named(ast::Type::FUNCTION, cx.span_of(written)) })
}

/// Converts a type that is a path of types.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn try_convert(cx: &mut Context, written: &Type) -> Option<ast::Type> {
    let path = match written {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Group(group) => return try_convert(cx, &group.elem),
        Type::Paren(paren) => return try_convert(cx, &paren.elem),
        Type::Tuple(tuple) => {
            let args: Vec<_> = tuple.elems.iter().map(|part| try_convert(cx, part)).collect();
            let args = args.into_iter().collect::<Option<_>>()?;
            return Some(ast::Type { args, ..ast::Type::named(ast::Type::TUPLE, cx.span_of(written)) });
        }
        _ => return None,
    };
    let structure = cx.names.structs.get(&path::key(path)).copied();
    let (last, first) = path.segments.iter().collect::<Vec<_>>().split_last().map(|(l, f)| (*l, f.to_vec()))?;
    if first.iter().any(|s| !s.arguments.is_none()) {
        return None;
    }
    let args = arguments(cx, &last.arguments)?;
    let name = syn::ext::IdentExt::unraw(&last.ident).to_string();
    Some(ast::Type { name, args, structure, span: cx.span_of(written) })
}

/// The types between angle brackets.
pub(crate) fn arguments(cx: &mut Context, written: &PathArguments) -> Option<Vec<ast::Type>> {
    match written {
        PathArguments::None => Some(Vec::new()),
        PathArguments::AngleBracketed(list) => list.args.iter().map(|arg| argument(cx, arg)).collect(),
        PathArguments::Parenthesized(_) => None,
    }
}

/// A type, or a constant as its text: a literal, or one in braces.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn argument(cx: &mut Context, written: &GenericArgument) -> Option<ast::Type> {
    let constant = match written {
        GenericArgument::Type(ty) => return try_convert(cx, ty),
        GenericArgument::Const(Expr::Block(block)) => match block.block.stmts.as_slice() {
            [Stmt::Expr(only, None)] => only,
            _ => return None,
        },
        GenericArgument::Const(constant) => constant,
        _ => return None,
    };
    let text = match constant {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_digits().to_owned(),
        Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => value.value.to_string(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => format!("-{}", number.base10_digits()),
            _ => return None,
        },
        Expr::Path(path) => path.path.get_ident()?.to_string(),
        _ => return None,
    };
    Some(ast::Type::named(text, cx.span_of(written)))
}
