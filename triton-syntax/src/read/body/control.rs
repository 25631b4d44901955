//! Control flow: `if`, `for`, `while`, `return`.

use super::{Position, convert_block, expr, pattern};
use crate::context::Context;
use crate::read::reject;
use proc_macro2::Span as TokenSpan;
use syn::{Expr, ExprForLoop, ExprIf, ExprRange, ExprReturn, ExprWhile, RangeLimits};
use triton_core::ast::{self, ExprKind};
use triton_core::diag::Code;

/// `if`, as a statement or a value.
pub(super) fn convert_if(cx: &mut Context, written: &ExprIf, position: Position) -> Option<ast::Expr> {
    reject::attributes(cx, &written.attrs);
    let cond = expr::convert(cx, &written.cond);
    let then = branch(cx, &written.then_branch, position);
    let other = match &written.else_branch {
        None => Some(None),
        Some((_, other)) => otherwise(cx, other, position).map(Some),
    };
    let last = written.else_branch.as_ref().map_or(written.then_branch.brace_token.span.close(), |(_, e)| end(e));
    let span = cx.span(written.if_token.span, last);
    let kind = ExprKind::If(Box::new(cond?), Box::new(then?), other?.map(Box::new));
    Some(ast::Expr { kind, span })
}

fn branch(cx: &mut Context, block: &syn::Block, position: Position) -> Option<ast::Expr> {
    let (statements, value) = convert_block(cx, block, position)?;
    let span = cx.span(block.brace_token.span.open(), block.brace_token.span.close());
    Some(ast::Expr { kind: ExprKind::Block(statements, value), span })
}

/// What follows `else`: a block, or the next `if`.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn otherwise(cx: &mut Context, written: &Expr, position: Position) -> Option<ast::Expr> {
    match written {
        Expr::If(other) => convert_if(cx, other, position),
        Expr::Block(other) if other.label.is_none() => branch(cx, &other.block, position),
        other => expr::convert(cx, other),
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn end(written: &Expr) -> TokenSpan {
    match written {
        Expr::If(other) => {
            other.else_branch.as_ref().map_or(other.then_branch.brace_token.span.close(), |(_, e)| end(e))
        }
        other => expr::ends(other).1,
    }
}

/// `for name in lo..hi`, `for name in (lo..hi).step_by(step)`.
pub(super) fn convert_for(cx: &mut Context, written: &ExprForLoop) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    label(cx, written.label.as_ref());
    let var = counter(cx, &written.pat);
    let range = Counted::of(&written.expr);
    if range.is_none() {
        let problem = cx.diagnostic(Code::T0015, &written.expr, "a `for` loops over a range, and over nothing else");
        cx.report(problem.help("write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`"));
    }
    let range = range.and_then(|range| {
        let ends = ends(cx, range.range);
        let step = match range.step {
            None => Some(None),
            Some(step) => expr::convert(cx, step).map(Some),
        };
        Some((ends?, step?))
    });
    let body = convert_block(cx, &written.body, Position::Loop);
    let span = cx.span(written.for_token.span, expr::ends(&written.expr).1);
    let ((start, end), step) = range?;
    Some(ast::Stmt::For { var: var?, start, end, step, body: statements(body?), span })
}

/// The range of a `for`.
pub(crate) struct Counted<'a> {
    /// `lo..hi`
    pub(crate) range: &'a ExprRange,
    /// The argument of `step_by`.
    pub(crate) step: Option<&'a Expr>,
}

impl<'a> Counted<'a> {
    /// `None` for anything else than a range and one with a step.
    #[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
    pub(crate) fn of(written: &'a Expr) -> Option<Self> {
        match written {
            Expr::Range(range) => Some(Counted { range, step: None }),
            Expr::Paren(paren) => Counted::of(&paren.expr),
            Expr::Group(group) => Counted::of(&group.expr),
            Expr::MethodCall(call) if call.method == "step_by" && call.turbofish.is_none() && call.args.len() == 1 => {
                let inner = Counted::of(&call.receiver).filter(|inner| inner.step.is_none())?;
                Some(Counted { step: call.args.first(), ..inner })
            }
            _ => None,
        }
    }
}

fn ends(cx: &mut Context, range: &ExprRange) -> Option<(ast::Expr, ast::Expr)> {
    let (Some(start), Some(end), RangeLimits::HalfOpen(_)) = (&range.start, &range.end, &range.limits) else {
        let (message, help) = match range.limits {
            RangeLimits::Closed(_) => ("a range with `..=` is not part of the kernel language", "write `lo..hi + 1`"),
            RangeLimits::HalfOpen(_) => ("a `for` loops over a range with both ends", "write `lo..hi`"),
        };
        let problem = cx.diagnostic(Code::T0015, range, message);
        cx.report(problem.help(help));
        return None;
    };
    let (start, end) = (expr::convert(cx, start), expr::convert(cx, end));
    Some((start?, end?))
}

/// A counter is a name or `_`. It is a new variable in each iteration, so `mut` would not do what it seems to.
fn counter(cx: &mut Context, written: &syn::Pat) -> Option<ast::Pattern> {
    let message = match pattern::convert(cx, written)? {
        ast::Pattern::Name { mutable: true, .. } => "the counter of a `for` cannot be `mut`",
        ast::Pattern::Tuple(..) => "the counter of a `for` is one number",
        plain @ (ast::Pattern::Name { .. } | ast::Pattern::Wild) => return Some(plain),
    };
    let problem = cx.diagnostic(Code::T0015, written, message);
    cx.report(problem.help("write `for i in ..`, or `for _ in ..`"));
    None
}

/// `while condition { .. }`.
pub(super) fn convert_while(cx: &mut Context, written: &ExprWhile) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    label(cx, written.label.as_ref());
    let cond = expr::convert(cx, &written.cond);
    let body = convert_block(cx, &written.body, Position::Loop);
    let span = cx.span_of(&written.while_token);
    Some(ast::Stmt::While { cond: cond?, body: statements(body?), span })
}

/// A loop yields nothing: the value of its body is a statement, which must yield nothing either.
fn statements((mut statements, value): (Vec<ast::Stmt>, Option<Box<ast::Expr>>)) -> Vec<ast::Stmt> {
    statements.extend(value.map(|value| ast::Stmt::Expr(*value)));
    statements
}

fn label(cx: &mut Context, label: Option<&syn::Label>) {
    if let Some(label) = label {
        let problem = cx.diagnostic(Code::T0015, &label.name, "a label is not part of the kernel language");
        cx.report(problem.help("a loop ends by its condition or range: there is no `break` to name it"));
    }
}

/// `return;`.
pub(super) fn convert_return(cx: &mut Context, written: &ExprReturn, position: Position) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    let (message, help) = match position {
        Position::Kernel if written.expr.is_none() => {
            return Some(ast::Stmt::Return(cx.span_of(&written.return_token)));
        }
        Position::Kernel => ("a kernel returns nothing, so its `return` has no value", "write `return;`"),
        Position::Function => (
            "a `return` in a function for kernels is not part of the kernel language",
            "write the value as the last expression of the function, chosen by `if` or `select`",
        ),
        Position::Loop => (
            "a `return` in a loop is not part of the kernel language",
            "let the loop end by its condition, and write `if .. { return; }` after it",
        ),
        Position::Value => (
            "a `return` inside an expression is not part of the kernel language",
            "write `if .. { return; }` as a statement of the kernel",
        ),
    };
    let problem = cx.diagnostic(Code::T0015, &written.return_token, message);
    cx.report(problem.help(help));
    None
}

/// Whether a condition has a `let` in it, which is not an expression.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn binds(cond: &Expr) -> bool {
    match cond {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}
