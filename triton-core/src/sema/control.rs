//! Control flow: `if`, and what `return`, `break` and `continue` skip.
//!
//! Variables become values: those that branches assign are results of the `if`. A constant condition chooses its branch here, and the
//! other one is not checked.
//!
//! The IR has no jumps. What follows an `if` with a `return` between the statements of the kernel is copied into its branches
//! ([`Checker::top_level`]). Inside a loop an exit sets a flag instead, and what it skips is a branch of an `if`
//! ([`Checker::sequence`]); the loop ends by its flag.

use super::Checker;
use super::assigned::{Assigned, Flag};
use super::value::{Known, Val};
use crate::ast::{BinaryOp, Exit, Expr, ExprKind, Stmt};
use crate::diag::{Code, Diagnostic};
use crate::ir::{Block, Value};
use crate::ops::Op;
use crate::span::Span;
use crate::types::{DType, Shape, Type};

impl Checker<'_> {
    /// Statements of the kernel itself, where `return` may end the program, and what follows the blocks they are in:
    /// the statements, each with the number of scopes around them. After an `if` that may return, each branch continues
    /// with a copy of what follows: `if c { a; return; } b` is `if c { a } else { b }`.
    pub(super) fn top_level(&mut self, stmts: &[Stmt], continuation: &[(usize, &[Stmt])]) {
        for (i, stmt) in stmts.iter().enumerate() {
            if let Stmt::Exit(Exit::Return, _) = stmt {
                return;
            }
            if !self.assigned(stmt).contains(&Flag::Return.name()) {
                self.stmt(stmt);
                continue;
            }
            let Stmt::Expr(expr) = stmt else {
                return self.after_loop(stmt, &stmts[i + 1..], continuation);
            };
            let continuation = [continuation, &[(self.scopes.len(), &stmts[i + 1..])]].concat();
            let Expr { kind: ExprKind::If(cond, then, otherwise), span } = expr else {
                return self.arm_with(expr, &continuation);
            };
            let Some(cond) = self.condition(cond) else { return };
            let then = |cx: &mut Checker| {
                cx.arm_with(then, &continuation);
                Some(Val::Unit)
            };
            let otherwise = |cx: &mut Checker| {
                match otherwise.as_deref() {
                    Some(otherwise) => cx.arm_with(otherwise, &continuation),
                    None => cx.top_level(&[], &continuation),
                }
                Some(Val::Unit)
            };
            // Everything that follows is inside, so nothing needs what the branches assign.
            self.branch(cond, &[], *span, then, otherwise);
            return;
        }
        if let Some((&(scopes, stmts), continuation)) = continuation.split_last() {
            self.scopes.truncate(scopes);
            self.top_level(stmts, continuation);
        }
    }

    /// A block, or the `if` of an `else if`, and what follows.
    fn arm_with(&mut self, expr: &Expr, continuation: &[(usize, &[Stmt])]) {
        self.scopes.push(Default::default());
        match &expr.kind {
            ExprKind::Block(stmts, None) => self.top_level(stmts, continuation),
            ExprKind::Block(stmts, Some(tail)) => {
                let stmts: Vec<Stmt> = stmts.iter().cloned().chain([Stmt::Expr((**tail).clone())]).collect();
                self.top_level(&stmts, continuation);
            }
            ExprKind::If(..)
            | ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::Path(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Call(..)
            | ExprKind::Method { .. }
            | ExprKind::Cast(..)
            | ExprKind::Field(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Closure(..) => self.top_level(&[Stmt::Expr(expr.clone())], continuation),
        }
    }

    /// A loop between the statements of the kernel, and what follows unless the loop has ended the program.
    fn after_loop(&mut self, stmt: &Stmt, rest: &[Stmt], continuation: &[(usize, &[Stmt])]) {
        let flag = Flag::Return.name();
        self.bind(flag.clone(), Some(Val::Known(Known::bool(false))));
        self.stmt(stmt);
        let Some(ended) = self.stopped(&[flag], stmt.span()) else { return };
        let rest = |cx: &mut Checker| {
            cx.top_level(rest, continuation);
            Some(Val::Unit)
        };
        self.branch(ended, &[], stmt.span(), |_| Some(Val::Unit), rest);
    }

    /// Statements of a loop's body. What follows one that may leave the iteration is a branch of an `if`: the other branch of the
    /// statement itself, if one of its branches never goes on, else of one on the flags that it may set.
    pub(super) fn sequence(&mut self, stmts: &[Stmt]) {
        for (i, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[i + 1..];
            if let Stmt::Exit(exit, span) = stmt {
                return self.exit(*exit, *span);
            }
            let mut flags = self.assigned(stmt);
            flags.retain(|name| Flag::is(name));
            if flags.is_empty() {
                self.stmt(stmt);
                continue;
            }
            match stmt {
                Stmt::Expr(Expr { kind: ExprKind::If(cond, then, otherwise), span }) => {
                    let Some(cond) = self.condition(cond) else { return };
                    let otherwise = otherwise.as_deref();
                    let ends = [leaves(then), otherwise.is_some_and(leaves)];
                    let within = if ends.contains(&true) { rest } else { &[] };
                    let mut assigned = Assigned::inside(self.loops);
                    [Some(&**then), otherwise].into_iter().flatten().for_each(|arm| assigned.expr(arm));
                    assigned.block(within, None);
                    let after = |left: bool| if left { &[] } else { within };
                    let yes = |cx: &mut Checker<'_>| cx.arm_in_loop(Some(then), after(ends[0]));
                    let no = |cx: &mut Checker<'_>| cx.arm_in_loop(otherwise, after(ends[1]));
                    self.branch(cond, &assigned.names, *span, yes, no);
                    if ends.contains(&true) {
                        return;
                    }
                }
                Stmt::Expr(block) => {
                    self.arm_in_loop(Some(block), &[]);
                }
                other @ (Stmt::Let { .. }
                | Stmt::Assign { .. }
                | Stmt::Const { .. }
                | Stmt::For { .. }
                | Stmt::While { .. }
                | Stmt::Exit(..)
                | Stmt::Assert { .. }
                | Stmt::ConstAssert { .. }
                | Stmt::Print { .. }) => self.stmt(other),
            }
            return self.unless_left(&flags, rest, stmt.span());
        }
    }

    /// Statements in a scope of their own that are skipped if one of these flags is set.
    fn unless_left(&mut self, flags: &[String], stmts: &[Stmt], span: Span) {
        if stmts.is_empty() {
            return;
        }
        let Some(left) = self.stopped(flags, span) else { return };
        let mut assigned = Assigned::inside(self.loops);
        assigned.block(stmts, None);
        let run = |cx: &mut Checker<'_>| {
            cx.scopes.push(Default::default());
            cx.sequence(stmts);
            cx.scopes.pop();
            Some(Val::Unit)
        };
        self.branch(left, &assigned.names, span, |_| Some(Val::Unit), run);
    }

    /// A block, or the `if` of an `else if`, and what follows it, each in a scope of its own.
    fn arm_in_loop(&mut self, expr: Option<&Expr>, rest: &[Stmt]) -> Option<Val> {
        let Some(expr) = expr else {
            self.unless_left(&[], rest, Span::NONE);
            return Some(Val::Unit);
        };
        let within = if let ExprKind::Block(stmts, tail) = &expr.kind {
            stmts.iter().cloned().chain(tail.as_deref().cloned().map(Stmt::Expr)).collect()
        } else {
            vec![Stmt::Expr(expr.clone())]
        };
        self.unless_left(&[], &within, expr.span);
        let mut flags = self.assigned_names([expr]);
        flags.retain(|name| Flag::is(name));
        self.unless_left(&flags, rest, expr.span);
        Some(Val::Unit)
    }

    /// Sets the flag of an exit, which nothing follows.
    fn exit(&mut self, exit: Exit, span: Span) {
        let name = Flag::of(exit, self.loops).name();
        match self.scopes.iter().rposition(|scope| scope.contains_key(&name)) {
            Some(scope) => {
                self.scopes[scope].insert(name, Some(Val::Known(Known::bool(true))));
            }
            None => self.misplaced_exit(exit, span),
        }
    }

    /// Whether any of these flags is set.
    pub(super) fn stopped(&mut self, flags: &[String], span: Span) -> Option<Val> {
        let mut any = Val::Known(Known::bool(false));
        for flag in flags {
            let value = self.scopes.iter().rev().find_map(|scope| scope.get(flag)).cloned().flatten()?;
            any = match (&any, &value) {
                (Val::Known(known), _) if *known == Known::bool(false) => value,
                (_, Val::Known(known)) if *known == Known::bool(false) => any,
                (_, _) => self.binary(BinaryOp::BitOr, span, (any, span), (value, span))?,
            };
        }
        Some(any)
    }

    /// What a statement assigns to, flags among it.
    fn assigned(&self, stmt: &Stmt) -> Vec<String> {
        let mut found = Assigned::inside(self.loops);
        found.block(std::slice::from_ref(stmt), None);
        found.names
    }

    /// What expressions assign to.
    pub(super) fn assigned_names<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<String> {
        let mut found = Assigned::inside(self.loops);
        exprs.into_iter().for_each(|expr| found.expr(expr));
        found.names
    }

    /// The parser reports what stands elsewhere.
    pub(super) fn misplaced_exit(&mut self, exit: Exit, span: Span) {
        let _: Option<()> =
            self.report(Diagnostic::new(Code::T0199, span, format!("nothing here is left by {exit:?}")));
    }

    /// The value of a condition: one `bool`.
    pub(super) fn condition(&mut self, cond: &Expr) -> Option<Val> {
        let value = self.expr(cond)?;
        let value = self.open_as(value, DType::Bool, cond.span)?;
        match value.ty(&self.func) {
            Some(ty) if ty == Type::scalar(DType::Bool) => Some(value),
            ty => {
                let found = self.describe(&value);
                let diagnostic =
                    Diagnostic::new(Code::T0105, cond.span, format!("a condition is one `bool`, found `{found}`"));
                let is_tile = ty.is_some_and(|t| t.shape != Shape::SCALAR);
                self.report(if is_tile {
                    diagnostic.help(
                        "choose element by element with `select(cond, a, b)`, load and store under a mask, or reduce it by `any` or `all`",
                    )
                } else {
                    diagnostic.help("compare, as in `i < n`")
                })
            }
        }
    }

    pub(super) fn if_expr(&mut self, cond: &Expr, then: &Expr, otherwise: Option<&Expr>, span: Span) -> Option<Val> {
        let cond = self.condition(cond)?;
        let names = self.assigned_names([then].into_iter().chain(otherwise));
        self.branch(cond, &names, span, |cx| cx.expr(then), |cx| otherwise.map_or(Some(Val::Unit), |e| cx.expr(e)))
    }

    /// Both branches, and what they have in common afterwards. `None` if either was reported.
    pub(super) fn branch(
        &mut self,
        cond: Val,
        names: &[String],
        span: Span,
        then: impl FnOnce(&mut Checker<'_>) -> Option<Val>,
        otherwise: impl FnOnce(&mut Checker<'_>) -> Option<Val>,
    ) -> Option<Val> {
        if let Val::Known(Known::Typed(constant)) = cond {
            return if constant.bits != 0 { then(self) } else { otherwise(self) };
        }
        let cond = self.materialise(cond, None, span)?;
        let (outer, before) = (self.block, self.scopes.clone());
        let slots = self.slots(names);
        let yes = self.arm(&slots, then);
        self.scopes.clone_from(&before);
        let no = self.arm(&slots, otherwise);
        self.scopes = before;
        self.block = outer;
        let (yes_value, no_value) = (yes.value, no.value);
        let (yes, no, yes_bindings, no_bindings) = (yes.block, no.block, yes.bindings, no.bindings);
        // What differs between the branches is a result: assigned variables first, the value of the expression last.
        let mut pairs = Vec::new();
        let mut changed = Vec::new();
        for (slot, (a, b)) in slots.into_iter().zip(yes_bindings.into_iter().zip(no_bindings)) {
            match (a, b) {
                (Some(a), Some(b)) if a != b => {
                    changed.push(slot);
                    pairs.push((a, b));
                }
                (alike @ Some(_), Some(_)) => {
                    self.scopes[slot.0].insert(slot.1, alike);
                }
                (None, _) | (_, None) => {
                    self.scopes[slot.0].insert(slot.1, None);
                }
            }
        }
        let value = match (yes_value?, no_value?) {
            (Val::Unit, _) | (_, Val::Unit) => None,
            (a, b) => {
                let (from, fits) = (pairs.len(), pair(&a, &b, &mut pairs));
                if !fits {
                    let (a, b) = (a.into_values().len(), b.into_values().len());
                    let message = format!("the branches of `if` have {a} and {b} values");
                    return self.report(
                        Diagnostic::new(Code::T0115, span, message).help("give both the same number of values"),
                    );
                }
                Some((a, from))
            }
        };
        let mut arms: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
        for (a, b) in pairs {
            let hint = a.ty(&self.func).or(b.ty(&self.func)).and_then(|t| t.elem.num());
            self.block = yes;
            let a = self.materialise(a, hint, span);
            self.block = no;
            let b = self.materialise(b, hint, span);
            self.block = outer;
            let (a, b) = (a?, b?);
            let (ty_a, ty_b) = (self.func.ty(a), self.func.ty(b));
            if ty_a != ty_b {
                let message = format!("the branches of `if` are `{}` and `{}`", ty_a.describe(), ty_b.describe());
                return self
                    .report(Diagnostic::new(Code::T0115, span, message).help("give both the same type and shape"));
            }
            arms[0].push(a);
            arms[1].push(b);
        }
        let types: Vec<Type> = arms[0].iter().map(|&v| self.func.ty(v)).collect();
        let [yes_arm, no_arm] = arms;
        self.end(yes, yes_arm, span);
        self.end(no, no_arm, span);
        let results = self.func.append_structured(outer, Op::If { cond }, Vec::new(), vec![yes, no], &types, span);
        for ((slot, name), &result) in changed.into_iter().zip(&results) {
            self.scopes[slot].insert(name, Some(Val::Ir(result)));
        }
        match value {
            Some((of, from)) => Some(joined(&of, &mut results.iter().skip(from).copied())),
            None => Some(Val::Unit),
        }
    }

    pub(super) fn end(&mut self, block: Block, values: Vec<Value>, span: Span) {
        self.func.append_structured(block, Op::Yield {}, values, Vec::new(), &[], span);
    }

    /// The scopes of the variables of these names.
    pub(super) fn slots(&self, names: &[String]) -> Vec<(usize, String)> {
        let find = |name: &String| self.scopes.iter().rposition(|s| s.contains_key(name)).map(|i| (i, name.clone()));
        names.iter().filter_map(find).collect()
    }

    /// One branch: its block, its value, and what the variables are at its end.
    fn arm(&mut self, slots: &[(usize, String)], run: impl FnOnce(&mut Checker<'_>) -> Option<Val>) -> Arm {
        let block = self.func.add_block(&[]);
        self.block = block;
        let value = run(self);
        let bindings = slots.iter().map(|(scope, name)| self.scopes[*scope][name].clone()).collect();
        Arm { block, value, bindings }
    }
}

/// The values of two branches side by side, in order; `false` if they are tuples of different lengths.
fn pair(a: &Val, b: &Val, pairs: &mut Vec<(Val, Val)>) -> bool {
    match (a, b) {
        (Val::Tuple(a), Val::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| pair(a, b, pairs)),
        (Val::Tuple(_), _) | (_, Val::Tuple(_)) => false,
        (a, b) => {
            pairs.push((a.clone(), b.clone()));
            true
        }
    }
}

/// Results in place of the values that they join.
fn joined(of: &Val, results: &mut impl Iterator<Item = Value>) -> Val {
    match of {
        Val::Tuple(values) => Val::Tuple(values.iter().map(|value| joined(value, results)).collect()),
        Val::Ir(_) | Val::Known(_) | Val::View(_) | Val::Struct(..) | Val::Function(_) | Val::Outer(_) | Val::Unit => {
            results.next().map_or(Val::Unit, Val::Ir)
        }
    }
}

/// A branch of an `if`.
struct Arm {
    block: Block,
    value: Option<Val>,
    bindings: Vec<Option<Val>>,
}

/// Whether a block or an `if` never goes on to what follows.
fn leaves(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Block(stmts, tail) => {
            let stmt = |s: &Stmt| matches!(s, Stmt::Exit(..)) || matches!(s, Stmt::Expr(e) if leaves(e));
            stmts.iter().any(stmt) || tail.as_deref().is_some_and(leaves)
        }
        ExprKind::If(_, then, otherwise) => leaves(then) && otherwise.as_deref().is_some_and(leaves),
        ExprKind::Int(..)
        | ExprKind::Float(..)
        | ExprKind::Bool(_)
        | ExprKind::Path(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Call(..)
        | ExprKind::Method { .. }
        | ExprKind::Cast(..)
        | ExprKind::Field(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Closure(..) => false,
    }
}
