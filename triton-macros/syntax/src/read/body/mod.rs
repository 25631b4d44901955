//! The body of a kernel: from `syn` to the compiler's tree.
//!
//! What the tree cannot hold is reported here, at its span and with what to write instead, and parsing continues, so
//! that one build shows all of it.

pub(crate) mod control;
mod expr;
pub(crate) mod macros;
pub(crate) mod pattern;
pub(crate) mod types;

pub(crate) use expr::operator;

use crate::context::{Context, Held};
use crate::read::reject;
use syn::{Block, Expr, ExprTuple, Item, Local, Stmt};
use triton_core::ast::{self, ExprKind};
use triton_core::diag::Code;

/// The position of a statement, which decides what it may leave by `return`, `break` and `continue`.
#[derive(Clone, Copy)]
enum Position<'a> {
    /// Between the statements of the kernel, or in an `if` there.
    Kernel,
    /// Between the statements of a function that a kernel calls.
    Function,
    /// In the body of a loop.
    Loop(Enclosing<'a>),
    /// Inside an expression.
    Value,
}

/// The loop around a statement.
#[derive(Clone, Copy)]
struct Enclosing<'a> {
    label: Option<&'a syn::Lifetime>,
    /// Where the loop is.
    around: &'a Position<'a>,
}

/// The statements of a kernel, or `None` after an error.
pub(crate) fn convert(cx: &mut Context, block: &Block) -> Option<Vec<ast::Stmt>> {
    let (mut statements, value) = convert_block(cx, block, Position::Kernel)?;
    statements.extend(value.map(|value| ast::Stmt::Expr(*value)));
    Some(statements)
}

/// The statements of a function that a kernel calls, and its value, or `None` after an error.
pub(crate) fn convert_function(cx: &mut Context, block: &Block) -> Option<(Vec<ast::Stmt>, Option<Box<ast::Expr>>)> {
    convert_block(cx, block, Position::Function)
}

/// An expression that stands alone.
pub(crate) fn expression(cx: &mut Context, written: &Expr) -> Option<ast::Expr> {
    expr::convert(cx, written)
}

/// The statements of a block and its value.
fn convert_block(
    cx: &mut Context,
    block: &Block,
    position: Position<'_>,
) -> Option<(Vec<ast::Stmt>, Option<Box<ast::Expr>>)> {
    let (mut statements, mut value, mut complete) = (Vec::new(), None, true);
    for (index, stmt) in block.stmts.iter().enumerate() {
        let last = index + 1 == block.stmts.len();
        let converted = match stmt {
            Stmt::Local(local) => convert_let(cx, local),
            Stmt::Item(item) => convert_item(cx, item),
            Stmt::Expr(expr, None) if last && !is_statement(expr) => {
                value = statement_value(cx, expr, position).map(Box::new);
                complete &= value.is_some();
                continue;
            }
            // A semicolon alone.
            Stmt::Expr(Expr::Verbatim(tokens), Some(_)) if tokens.is_empty() => continue,
            Stmt::Expr(expr, _) => convert_statement(cx, expr, position),
            Stmt::Macro(stmt) => {
                reject::attributes(cx, &stmt.attrs);
                macros::convert(cx, &stmt.mac)
            }
        };
        complete &= converted.is_some();
        statements.extend(converted);
    }
    complete.then_some((statements, value))
}

fn convert_let(cx: &mut Context, local: &Local) -> Option<ast::Stmt> {
    reject::attributes(cx, &local.attrs);
    if let Some((token, _)) = local.init.as_ref().and_then(|init| init.diverge.as_ref()) {
        let problem = cx.diagnostic(Code::T0015, token, "`let .. else` is not part of the kernel language");
        cx.report(problem.help("a kernel has no enums: write an `if`"));
        return None;
    }
    let (pattern, ty) =
        if let syn::Pat::Type(typed) = &local.pat { (&*typed.pat, Some(&*typed.ty)) } else { (&local.pat, None) };
    let pattern = pattern::convert(cx, pattern);
    let converted = ty.map(|ty| types::convert(cx, ty));
    let Some(init) = &local.init else {
        let problem = cx.diagnostic(Code::T0001, local, "a `let` without a value is not part of the kernel language");
        cx.report(problem.help("give the variable a value where it is declared"));
        return None;
    };
    let array = matches!(&*init.expr, Expr::Array(_) | Expr::Repeat(_));
    let init = expr::convert(cx, &init.expr);
    if let Some(ast::Pattern::Name { name, .. }) = &pattern {
        match array {
            true => cx.held.insert(name.name.clone(), Held::Array),
            // It shadows a parameter.
            false => cx.held.remove(&name.name),
        };
    }
    let ty = match converted {
        Some(ty) => Some(ty?),
        None => None,
    };
    Some(ast::Stmt::Let { pattern: pattern?, ty, init: init? })
}

fn convert_item(cx: &mut Context, item: &Item) -> Option<ast::Stmt> {
    let Item::Const(item) = item else {
        reject::item(cx, item);
        return None;
    };
    reject::attributes(cx, &item.attrs);
    let name = cx.ident(&item.ident);
    let ty = types::convert(cx, &item.ty);
    let value = expr::convert(cx, &item.expr);
    Some(ast::Stmt::Const { name, ty: ty?, value: value? })
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn is_statement(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_)
        | Expr::ForLoop(_)
        | Expr::While(_)
        | Expr::Loop(_)
        | Expr::Break(_)
        | Expr::Continue(_)
        | Expr::Return(_)
        | Expr::Macro(_)
        | Expr::Const(_) => true,
        Expr::Binary(binary) => operator(&binary.op).1,
        _ => false,
    }
}

/// An expression as a statement: in the branches of an `if`, and in a block, a `return` is allowed where the `if` is.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn statement_value(cx: &mut Context, expr: &Expr, position: Position<'_>) -> Option<ast::Expr> {
    match expr {
        Expr::If(expr) => control::convert_if(cx, expr, position),
        Expr::Block(block) if block.label.is_none() => {
            reject::attributes(cx, &block.attrs);
            control::branch(cx, &block.block, position)
        }
        _ => expr::convert(cx, expr),
    }
}

/// `(a, b) = value;`, as a block that binds the parts of the value, and then assigns them.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn convert_destructuring(cx: &mut Context, targets: &ExprTuple, value: &Expr) -> Option<ast::Stmt> {
    let span = cx.span_of(targets);
    let value = expr::convert(cx, value);
    let (mut parts, mut statements, mut complete) = (Vec::new(), Vec::new(), true);
    for (index, target) in targets.elems.iter().enumerate() {
        let name = match target {
            Expr::Infer(_) => {
                parts.push(ast::Pattern::Wild);
                continue;
            }
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let Some(name) = name else {
            let problem = cx.diagnostic(Code::T0001, target, "only variables can be assigned to");
            cx.report(problem.help("write `(a, b) = ..`, with `_` for a value that is not needed"));
            complete = false;
            continue;
        };
        let target = cx.ident(name);
        // No variable of the user's has a number for a name.
        let part = ast::Ident { name: index.to_string(), span: target.span };
        let path = ast::Path::name(part.clone());
        parts.push(ast::Pattern::Name { name: part, mutable: false });
        let value = ast::Expr { kind: ExprKind::Path(path), span: target.span };
        statements.push(ast::Stmt::Assign { target, op: None, value });
    }
    let binding = ast::Stmt::Let { pattern: ast::Pattern::Tuple(parts, span), ty: None, init: value? };
    let statements = std::iter::once(binding).chain(statements).collect();
    let block = ast::Expr { kind: ExprKind::Block(statements, None), span };
    complete.then_some(ast::Stmt::Expr(block))
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn convert_statement(cx: &mut Context, expr: &Expr, position: Position<'_>) -> Option<ast::Stmt> {
    let (left, op, right) = match expr {
        Expr::Assign(assign) => (&assign.left, None, &assign.right),
        Expr::Binary(binary) if operator(&binary.op).1 => (&binary.left, Some(&binary.op), &binary.right),
        Expr::ForLoop(expr) => return control::convert_for(cx, expr, position),
        Expr::While(expr) => return control::convert_while(cx, expr, position),
        Expr::Loop(expr) => return control::convert_loop(cx, expr, position),
        Expr::Break(expr) => return control::convert_break(cx, expr, position),
        Expr::Continue(expr) => return control::convert_continue(cx, expr, position),
        Expr::Return(expr) => return control::convert_return(cx, expr, position),
        Expr::Macro(expr) => return macros::convert(cx, &expr.mac),
        Expr::Const(expr) => return macros::convert_const(cx, expr),
        _ => return statement_value(cx, expr, position).map(ast::Stmt::Expr),
    };
    if let (Expr::Tuple(targets), None) = (&**left, op) {
        return convert_destructuring(cx, targets, right);
    }
    let op = op.map(|op| (operator(op).0, cx.span_of(op)));
    let value = expr::convert(cx, right);
    let name = if let Expr::Path(path) = &**left { path.path.get_ident() } else { None };
    let Some(name) = name else {
        let problem = cx.diagnostic(Code::T0001, left, "only a variable can be assigned to");
        let help = if matches!(**left, Expr::Infer(_)) {
            "write `let _ = ..`"
        } else {
            "memory is written with `store(p, value, mask)`"
        };
        cx.report(problem.help(help));
        return None;
    };
    let target = cx.ident(name);
    let op = match op {
        Some((op, span)) => Some((op?, span)),
        None => None,
    };
    Some(ast::Stmt::Assign { target, op, value: value? })
}
