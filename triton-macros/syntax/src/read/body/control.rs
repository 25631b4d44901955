//! Control flow: `if`, loops, `return`, `break`, `continue`.

use super::{Enclosing, Position, convert_block, expr, pattern};
use crate::context::{Context, spell};
use crate::read::path::unroll;
use crate::read::reject;
use crate::read::stages::{self, is_stages};
use proc_macro2::Span as TokenSpan;
use syn::{
    Attribute, Expr, ExprBreak, ExprContinue, ExprForLoop, ExprIf, ExprLoop, ExprRange, ExprReturn, ExprWhile, Label,
    Lifetime, Path, RangeLimits,
};
use triton_core::ast::{self, Exit, ExprKind, Turns};
use triton_core::diag::Code;

/// `if`, as a statement or a value.
pub(super) fn convert_if(cx: &mut Context, written: &ExprIf, position: Position<'_>) -> Option<ast::Expr> {
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

pub(super) fn branch(cx: &mut Context, block: &syn::Block, position: Position<'_>) -> Option<ast::Expr> {
    let (statements, value) = convert_block(cx, block, position)?;
    let span = cx.span(block.brace_token.span.open(), block.brace_token.span.close());
    Some(ast::Expr { kind: ExprKind::Block(statements, value), span })
}

/// What follows `else`: a block, or the next `if`.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn otherwise(cx: &mut Context, written: &Expr, position: Position<'_>) -> Option<ast::Expr> {
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

/// `for name in lo..hi`, `for name in (lo..hi).step_by(step)`, and either in `unroll(..)`.
pub(super) fn convert_for(cx: &mut Context, written: &ExprForLoop, position: Position<'_>) -> Option<ast::Stmt> {
    let (own, others): (Vec<_>, Vec<_>) = written.attrs.iter().partition(|attr| is_stages(attr));
    reject::attributes(cx, others);
    let var = counter(cx, &written.pat);
    let range = Counted::of(&written.expr);
    if range.is_none() {
        let problem = cx.diagnostic(Code::T0015, &written.expr, "a `for` loops over a range, and over nothing else");
        let unrolls = matches!(&*written.expr, Expr::Call(call) if unroll(call).is_some());
        cx.report(problem.help(match descending(written) {
            Some(help) => help,
            None if unrolls => {
                "write `for i in unroll(lo..hi)`, or `for i in unroll((lo..hi).step_by(step))`".to_owned()
            }
            None => "write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`".to_owned(),
        }));
    }
    let range = range.and_then(|range| {
        let ends = ends(cx, range.range);
        let step = match range.step {
            None => Some(None),
            Some(step) => expr::convert(cx, step).map(Some),
        };
        Some((ends?, step?, range.unroll.is_some()))
    });
    let turns = turns(cx, &own, range.as_ref().is_some_and(|(.., unrolled)| *unrolled));
    let body = body(cx, written.label.as_ref(), &written.body, position);
    let span = cx.span(written.for_token.span, expr::ends(&written.expr).1);
    let ((start, end), step, _) = range?;
    Some(ast::Stmt::For { var: var?, start, end, step, turns: turns?, body: body?, span })
}

/// What to write for `for i in (lo..hi).rev()`: the loop counts up. Of `(n..0).rev()`, which is empty in Rust, the same is meant.
fn descending(written: &ExprForLoop) -> Option<String> {
    let Expr::MethodCall(call) = &*written.expr else { return None };
    let range = Counted::of(&call.receiver).filter(|range| call.method == "rev" && range.unroll.is_none())?;
    let (lo, hi) = (range.range.start.as_deref()?, range.range.end.as_deref()?);
    let (mut lo, mut hi) = (spell(lo), spell(hi));
    let empty = if hi == "0" { format!("`{lo}..{hi}` is empty; ") } else { String::new() };
    if hi == "0" {
        std::mem::swap(&mut lo, &mut hi);
    }
    let counter = spell(&written.pat);
    let enclosed = |end: &mut String| {
        if !end.chars().all(|c| c.is_alphanumeric() || c == '_') {
            *end = format!("({end})");
        }
    };
    enclosed(&mut lo);
    enclosed(&mut hi);
    let index = if lo == "0" { format!("{hi} - 1 - {counter}") } else { format!("{lo} + {hi} - 1 - {counter}") };
    let step = if range.step.is_some() { ", with a multiple of the step" } else { "" };
    Some(format!("{empty}a range counts up: write `for {counter} in {lo}..{hi}`, and `let k = {index};`{step}"))
}

/// How the turns of a `for` with these attributes are run.
fn turns(cx: &mut Context, attrs: &[&Attribute], unrolled: bool) -> Option<Turns> {
    let &[attr, ..] = attrs else { return Some(if unrolled { Turns::Unrolled } else { Turns::Loop(None) }) };
    let mut refuse = |at: &Attribute, code: Code, message: &str, help: &str| {
        let problem = cx.diagnostic(code, at, message);
        cx.report(problem.help(help));
        None
    };
    if let Some(second) = attrs.get(1) {
        return refuse(second, Code::T0017, "`#[stages]` is given twice", "leave one of them out");
    }
    if unrolled {
        let message = "`#[stages]` is of a loop, and nothing is left of one that is unrolled";
        return refuse(attr, Code::T0017, message, "leave it out, or write the range without `unroll`");
    }
    let Some(number) = stages::number(attr) else {
        return refuse(attr, Code::T0008, "`#[stages]` takes one number, from 1 to 8", "write `#[stages(3)]`");
    };
    Some(Turns::Loop(Some(Box::new(expr::convert(cx, &number)?))))
}

/// The range of a `for`.
pub(crate) struct Counted<'a> {
    /// `lo..hi`
    pub(crate) range: &'a ExprRange,
    /// The argument of `step_by`.
    pub(crate) step: Option<&'a Expr>,
    /// The path to `unroll`, if all of it is the argument.
    pub(crate) unroll: Option<&'a Path>,
}

impl<'a> Counted<'a> {
    /// `None` for anything else than a range and one with a step.
    #[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
    pub(crate) fn of(written: &'a Expr) -> Option<Self> {
        match written {
            Expr::Range(range) => Some(Counted { range, step: None, unroll: None }),
            Expr::Paren(paren) => Counted::of(&paren.expr),
            Expr::Group(group) => Counted::of(&group.expr),
            Expr::MethodCall(call) if call.method == "step_by" && call.turbofish.is_none() && call.args.len() == 1 => {
                let plain = |inner: &Counted<'_>| inner.step.is_none() && inner.unroll.is_none();
                let inner = Counted::of(&call.receiver).filter(plain)?;
                Some(Counted { step: call.args.first(), ..inner })
            }
            Expr::Call(call) => {
                let path = unroll(call)?;
                let inner = Counted::of(call.args.first()?).filter(|inner| inner.unroll.is_none())?;
                Some(Counted { unroll: Some(path), ..inner })
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
pub(super) fn convert_while(cx: &mut Context, written: &ExprWhile, position: Position<'_>) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    let cond = expr::convert(cx, &written.cond);
    let body = body(cx, written.label.as_ref(), &written.body, position);
    let span = cx.span_of(&written.while_token);
    Some(ast::Stmt::While { cond: cond?, body: body?, span })
}

/// `loop { .. }`.
pub(super) fn convert_loop(cx: &mut Context, written: &ExprLoop, position: Position<'_>) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    let body = body(cx, written.label.as_ref(), &written.body, position);
    let span = cx.span_of(&written.loop_token);
    Some(ast::Stmt::While { cond: ast::Expr { kind: ExprKind::Bool(true), span }, body: body?, span })
}

/// A loop yields nothing: the value of its body is a statement, which must yield nothing either.
fn body(
    cx: &mut Context,
    label: Option<&Label>,
    written: &syn::Block,
    position: Position<'_>,
) -> Option<Vec<ast::Stmt>> {
    let inside = Position::Loop(Enclosing { label: label.map(|label| &label.name), around: &position });
    let (mut statements, value) = convert_block(cx, written, inside)?;
    statements.extend(value.map(|value| ast::Stmt::Expr(*value)));
    Some(statements)
}

/// `return;`.
pub(super) fn convert_return(cx: &mut Context, written: &ExprReturn, mut position: Position<'_>) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    while let Position::Loop(Enclosing { around, .. }) = position {
        position = *around;
    }
    let (message, help) = match position {
        Position::Kernel if written.expr.is_none() => {
            return Some(ast::Stmt::Exit(Exit::Return, cx.span_of(&written.return_token)));
        }
        Position::Kernel | Position::Loop(_) => {
            ("a kernel returns nothing, so its `return` has no value", "write `return;`")
        }
        Position::Function => (
            "a `return` in a function for kernels is not part of the kernel language",
            "write the value as the last expression of the function, chosen by `if` or `select`",
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

/// `break;`.
pub(super) fn convert_break(cx: &mut Context, written: &ExprBreak, position: Position<'_>) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    if let Some(value) = &written.expr {
        let problem = cx.diagnostic(Code::T0015, value, "a `break` with a value is not part of the kernel language");
        cx.report(problem.help("assign the value to a variable declared before the loop, and write `break;`"));
        return None;
    }
    let levels = target(cx, &written.break_token, "break", written.label.as_ref(), position)?;
    Some(ast::Stmt::Exit(Exit::Break(levels), cx.span_of(&written.break_token)))
}

/// `continue;`.
pub(super) fn convert_continue(cx: &mut Context, written: &ExprContinue, position: Position<'_>) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    let levels = target(cx, &written.continue_token, "continue", written.label.as_ref(), position)?;
    Some(ast::Stmt::Exit(Exit::Continue(levels), cx.span_of(&written.continue_token)))
}

/// How many loops are between an exit and the one that it means.
fn target(
    cx: &mut Context,
    token: &impl quote::ToTokens,
    word: &str,
    label: Option<&Lifetime>,
    mut position: Position<'_>,
) -> Option<usize> {
    let mut levels = 0;
    while let Position::Loop(Enclosing { label: own, around }) = position {
        if label.is_none_or(|label| own.is_some_and(|own| own.ident == label.ident)) {
            return Some(levels);
        }
        levels += 1;
        position = *around;
    }
    let (message, help) = match (position, label) {
        (Position::Value, _) => (
            format!("a `{word}` inside an expression is not part of the kernel language"),
            format!("write `if .. {{ {word}; }}` as a statement of the loop"),
        ),
        (_, Some(label)) => {
            let message = format!("no loop around this `{word}` has the label `{label}`");
            (message, format!("write `{label}: for ..` before the loop that is meant"))
        }
        (_, None) => (format!("a `{word}` outside a loop"), "a kernel ends by `return;`".to_owned()),
    };
    let problem = cx.diagnostic(Code::T0015, token, message);
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
