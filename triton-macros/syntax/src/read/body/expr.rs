//! Expressions.

use super::{Position, convert_block, convert_statement, pattern, statement_value, types};
use crate::context::{Context, spell};
use crate::read::path::{key, names_built_in, unroll};
use crate::read::{library, reject};
use proc_macro2::Span as TokenSpan;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprPath, Lit, UnOp};
use triton_core::ast::{self, BinaryOp, ExprKind, Target, UnaryOp};
use triton_core::diag::Code;
use triton_core::sema::{BUILTINS, replacement, reserved};
use triton_core::types::DType;

/// Converts an expression, or reports what in it is not part of the language.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn convert(cx: &mut Context, written: &Expr) -> Option<ast::Expr> {
    let kind = match written {
        // Parentheses and groups mean nothing but structure.
        Expr::Paren(paren) => return convert(cx, &paren.expr),
        Expr::Group(group) => return convert(cx, &group.expr),
        Expr::If(_) => return statement_value(cx, written, Position::Value),
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
            convert_statement(cx, written, Position::Value);
            None
        }
        Expr::Lit(lit) => literal(cx, &lit.lit),
        Expr::Path(expr) => path(cx, expr).map(ExprKind::Path),
        Expr::Unary(unary) => {
            let op = match unary.op {
                UnOp::Neg(_) => Some(UnaryOp::Neg),
                UnOp::Not(_) => Some(UnaryOp::Not),
                _ => {
                    reject::expr(cx, written);
                    None
                }
            };
            let operand = convert(cx, &unary.expr).map(Box::new);
            op.zip(operand).map(|(op, operand)| ExprKind::Unary(op, operand))
        }
        Expr::Binary(binary) => {
            let (left, right) = (convert(cx, &binary.left), convert(cx, &binary.right));
            match operator(&binary.op) {
                (Some(op), false) => {
                    let span = cx.span_of(&binary.op);
                    left.zip(right).map(|(l, r)| ExprKind::Binary(op, span, Box::new(l), Box::new(r)))
                }
                _ => {
                    reject::expr(cx, written);
                    None
                }
            }
        }
        Expr::Call(call) if unroll(call).is_some() => {
            let problem =
                cx.diagnostic(Code::T0015, written, "`unroll` stands in the head of a `for`, and nowhere else");
            cx.report(problem.help("write `for i in unroll(lo..hi)`"));
            None
        }
        Expr::Call(call) => {
            let function = callee(cx, &call.func)?;
            let args: Vec<_> = call.args.iter().map(|arg| argument(cx, &function, arg)).collect();
            let args = args.into_iter().collect::<Option<Vec<_>>>();
            args.map(|args| ExprKind::Call(function, args))
        }
        Expr::MethodCall(call) => {
            let receiver = convert(cx, &call.receiver).map(Box::new);
            let name = cx.ident(&call.method);
            let written = call.turbofish.iter().flat_map(|list| &list.args);
            let generics: Vec<_> = written.map(|arg| generic(cx, arg)).collect();
            let args = list(cx, &call.args);
            let generics = generics.into_iter().collect::<Option<Vec<_>>>();
            receiver.zip(generics).zip(args).map(|((receiver, generics), args)| ExprKind::Method {
                receiver,
                name,
                generics,
                args,
            })
        }
        Expr::Field(field) => {
            let base = convert(cx, &field.base).map(Box::new);
            let syn::Member::Named(name) = &field.member else {
                reject::expr(cx, written);
                return None;
            };
            let name = cx.ident(name);
            base.map(|base| ExprKind::Field(base, name))
        }
        Expr::Cast(cast) => {
            let (value, ty) = (convert(cx, &cast.expr).map(Box::new), types::convert(cx, &cast.ty));
            value.zip(ty).map(|(value, ty)| ExprKind::Cast(value, ty))
        }
        Expr::Tuple(tuple) => list(cx, &tuple.elems).map(ExprKind::Tuple),
        Expr::Array(array) => list(cx, &array.elems).map(ExprKind::Array),
        Expr::Block(block) if block.label.is_none() => convert_block(cx, &block.block, Position::Value)
            .map(|(statements, value)| ExprKind::Block(statements, value)),
        _ => {
            reject::expr(cx, written);
            None
        }
    };
    reject::expr_attributes(cx, written);
    let (first, last) = ends(written);
    Some(ast::Expr { kind: kind?, span: cx.span(first, last) })
}

fn list<'a>(cx: &mut Context, written: impl IntoIterator<Item = &'a Expr>) -> Option<Vec<ast::Expr>> {
    let all: Vec<_> = written.into_iter().map(|e| convert(cx, e)).collect();
    all.into_iter().collect()
}

/// `f(x, axis = 1)`, as in Python.
fn named(cx: &mut Context, function: &ast::Path, written: &syn::ExprAssign) -> Option<ast::Expr> {
    let (name, value) = (spell(&written.left), spell(&written.right));
    let problem = cx.diagnostic(Code::T0001, written, format!("an argument with a name, `{name}`, is not Rust"));
    let along = format!("{}_axis", function.segments.join("::"));
    let help = if name == "axis" && BUILTINS.iter().any(|builtin| builtin.name == along) {
        format!("write `{along}(x, {value})`")
    } else {
        format!("write `{value}`: arguments are given in the order of the parameters")
    };
    cx.report(problem.help(help));
    None
}

/// An argument of a function, which may be a closure.
fn argument(cx: &mut Context, function: &ast::Path, written: &Expr) -> Option<ast::Expr> {
    let Expr::Closure(closure) = written else {
        return if let Expr::Assign(assign) = written { named(cx, function, assign) } else { convert(cx, written) };
    };
    reject::closure_parts(cx, closure);
    let params: Vec<_> = closure.inputs.iter().map(|param| pattern::of_closure(cx, param)).collect();
    let body = convert(cx, &closure.body).map(Box::new);
    let params = params.into_iter().collect::<Option<Vec<_>>>();
    let (first, last) = (closure.inputs_begin.span(), ends(&closure.body).1);
    Some(ast::Expr { kind: ExprKind::Closure(params?, body?), span: cx.span(first, last) })
}

fn callee(cx: &mut Context, written: &Expr) -> Option<ast::Path> {
    let Expr::Path(expr) = written else {
        let problem = cx.diagnostic(Code::T0001, written, "only a function can be called, by its name");
        cx.report(problem.help("write `name(..)`"));
        return None;
    };
    let mut path = path(cx, expr)?;
    if let Target::Function(_) = path.target {
        return Some(path);
    }
    if let [name] = &path.segments[..]
        && let Some(help) = reserved(name)
    {
        let problem = cx.diagnostic(Code::T0129, written, format!("the language has no function `{name}`"));
        cx.report(problem.help(help));
        return None;
    }
    if let [ty, name] = &path.segments[..]
        && DType::from_name(ty).is_some()
    {
        let message = format!("`{ty}::{name}` is not a function of the language");
        let help = associated(ty, name);
        let problem = cx.diagnostic(Code::T0129, written, message);
        cx.report(problem.help(help));
        return None;
    }
    // `lang::load` is `load`: the compiler knows a built-in by its name, and rustc is made to check what the path means.
    if let Some(name) = cx.names.built_ins.get(&key(&expr.path)) {
        path.segments = vec![name.clone()];
    } else if names_built_in(&expr.path) {
        path.segments.drain(..path.segments.len() - 1);
    }
    if let [name] = &path.segments[..]
        && let Some(builtin) = BUILTINS.iter().find(|b| b.name == name && b.is_library())
    {
        path.target = library::index(builtin.name).map_or(Target::Name, Target::Function);
    }
    Some(path)
}

/// What to write for `f32::sqrt(x)`, `f32::from(x)`.
fn associated(ty: &str, name: &str) -> String {
    match BUILTINS.iter().find(|builtin| builtin.name == name) {
        Some(builtin) if !matches!(name, "max" | "min") => format!("write `{name}({})`", builtin.params.join(", ")),
        Some(_) => format!("write `{name}imum(a, b)`"),
        None => match name {
            "from" | "try_from" | "new" => format!("write `x.to::<{ty}>()`"),
            _ => replacement(name)
                .map_or_else(|| format!("an element type has only constants, as in `{ty}::MAX`"), str::to_owned),
        },
    }
}

fn path(cx: &mut Context, expr: &ExprPath) -> Option<ast::Path> {
    let segments = &expr.path.segments;
    let inner = segments.iter().rev().skip(1).any(|segment| !segment.arguments.is_none());
    if expr.qself.is_some() || inner {
        let text = spell(expr);
        cx.error(Code::T0001, expr, format!("the path `{text}` is not part of the kernel language"));
        return None;
    }
    let last = segments.last()?;
    let generics = if let syn::PathArguments::AngleBracketed(list) = &last.arguments {
        let all: Vec<_> = list.args.iter().map(|arg| function_generic(cx, arg)).collect();
        all.into_iter().collect::<Option<Vec<_>>>()?
    } else {
        Vec::new()
    };
    let segments = segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
    let written = key(&expr.path);
    let outer = || cx.names.outers.iter().position(|path| key(path) == written);
    let target = match cx.names.functions.get(&written) {
        Some(&index) => Target::Function(index),
        None => outer().map_or(Target::Name, Target::Outer),
    };
    Some(ast::Path { segments, generics, target, span: cx.span_of(expr) })
}

/// A type or constant between the angle brackets of a function's name; `_` is inferred.
fn function_generic(cx: &mut Context, written: &syn::GenericArgument) -> Option<ast::Type> {
    if let syn::GenericArgument::Type(syn::Type::Infer(_)) = written {
        return Some(ast::Type::named("_", cx.span_of(written)));
    }
    types::argument(cx, written).or_else(|| generic(cx, written))
}

/// A type between the angle brackets of a call.
fn generic(cx: &mut Context, written: &syn::GenericArgument) -> Option<ast::Type> {
    if let syn::GenericArgument::Type(ty) = written {
        return types::convert(cx, ty);
    }
    let text = spell(written);
    cx.error(Code::T0001, written, format!("`{text}` is used where only a type is allowed"));
    None
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn literal(cx: &mut Context, lit: &Lit) -> Option<ExprKind> {
    let (digits, suffix, float) = match lit {
        Lit::Bool(value) => return Some(ExprKind::Bool(value.value)),
        Lit::Int(number) => (number.base10_digits(), number.suffix(), false),
        Lit::Float(number) => (number.base10_digits(), number.suffix(), true),
        _ => {
            let problem =
                cx.diagnostic(Code::T0018, lit, "a string or byte literal is not part of the kernel language");
            cx.report(problem.help("strings are only allowed in `assert!` and `println!`"));
            return None;
        }
    };
    let dtype = if suffix.is_empty() { None } else { DType::from_name(suffix).filter(|d| *d != DType::Bool) };
    if dtype.is_none() && !suffix.is_empty() {
        let problem = cx.diagnostic(Code::T0018, lit, format!("a kernel has no numbers of type `{suffix}`"));
        cx.report(if suffix.ends_with("size") {
            problem.help("sizes are `i32` or `i64` in a kernel")
        } else {
            problem
        });
        return None;
    }
    if float || dtype.is_some_and(DType::is_float) {
        if dtype.is_some_and(|d| !d.is_float()) {
            cx.error(Code::T0018, lit, format!("a number with a fraction cannot be of type `{suffix}`"));
            return None;
        }
        return Some(ExprKind::Float(digits.to_owned(), dtype));
    }
    let Ok(value) = digits.parse() else {
        cx.error(Code::T0112, lit, "this integer is larger than any type can hold");
        return None;
    };
    Some(ExprKind::Int(value, dtype))
}

/// The operator in the tree, and whether it assigns.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn operator(op: &BinOp) -> (Option<BinaryOp>, bool) {
    let (op, assigns) = match op {
        BinOp::Add(_) => (BinaryOp::Add, false),
        BinOp::Sub(_) => (BinaryOp::Sub, false),
        BinOp::Mul(_) => (BinaryOp::Mul, false),
        BinOp::Div(_) => (BinaryOp::Div, false),
        BinOp::Rem(_) => (BinaryOp::Rem, false),
        BinOp::And(_) => (BinaryOp::And, false),
        BinOp::Or(_) => (BinaryOp::Or, false),
        BinOp::BitXor(_) => (BinaryOp::BitXor, false),
        BinOp::BitAnd(_) => (BinaryOp::BitAnd, false),
        BinOp::BitOr(_) => (BinaryOp::BitOr, false),
        BinOp::Shl(_) => (BinaryOp::Shl, false),
        BinOp::Shr(_) => (BinaryOp::Shr, false),
        BinOp::Eq(_) => (BinaryOp::Eq, false),
        BinOp::Lt(_) => (BinaryOp::Lt, false),
        BinOp::Le(_) => (BinaryOp::Le, false),
        BinOp::Ne(_) => (BinaryOp::Ne, false),
        BinOp::Ge(_) => (BinaryOp::Ge, false),
        BinOp::Gt(_) => (BinaryOp::Gt, false),
        BinOp::AddAssign(_) => (BinaryOp::Add, true),
        BinOp::SubAssign(_) => (BinaryOp::Sub, true),
        BinOp::MulAssign(_) => (BinaryOp::Mul, true),
        BinOp::DivAssign(_) => (BinaryOp::Div, true),
        BinOp::RemAssign(_) => (BinaryOp::Rem, true),
        BinOp::BitXorAssign(_) => (BinaryOp::BitXor, true),
        BinOp::BitAndAssign(_) => (BinaryOp::BitAnd, true),
        BinOp::BitOrAssign(_) => (BinaryOp::BitOr, true),
        BinOp::ShlAssign(_) => (BinaryOp::Shl, true),
        BinOp::ShrAssign(_) => (BinaryOp::Shr, true),
        _ => return (None, false),
    };
    (Some(op), assigns)
}

/// The first and last token of an expression. Walking down one side costs no copy of the tokens, which for a long chain
/// of operators would add up.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn ends(written: &Expr) -> (TokenSpan, TokenSpan) {
    match written {
        Expr::Binary(binary) => (ends(&binary.left).0, ends(&binary.right).1),
        Expr::Unary(unary) => (unary.op.span(), ends(&unary.expr).1),
        Expr::Call(call) => (ends(&call.func).0, call.paren_token.span.close()),
        Expr::MethodCall(call) => (ends(&call.receiver).0, call.paren_token.span.close()),
        Expr::Cast(cast) => (ends(&cast.expr).0, cast.ty.span()),
        Expr::Paren(paren) => (paren.paren_token.span.open(), paren.paren_token.span.close()),
        Expr::Tuple(tuple) => (tuple.paren_token.span.open(), tuple.paren_token.span.close()),
        Expr::Array(array) => (array.bracket_token.span.open(), array.bracket_token.span.close()),
        Expr::Block(block) => (block.block.brace_token.span.open(), block.block.brace_token.span.close()),
        Expr::Group(group) => ends(&group.expr),
        _ => {
            let mut tokens = written.to_token_stream().into_iter().map(|token| token.span());
            let first = tokens.next().unwrap_or_else(TokenSpan::call_site);
            (first, tokens.last().unwrap_or(first))
        }
    }
}
