//! Control flow: `if`, `for`, `while`, `return`.
//!
//! Variables become values: outer variables that a loop assigns are loop-carried, those that branches assign
//! are results of the `if`. A constant condition chooses its branch here, and the other one is
//! not checked.

use super::Checker;
use super::value::{Known, Val};
use crate::ast::{Expr, ExprKind, Pattern, Stmt};
use crate::diag::{Code, Diagnostic};
use crate::ir::{Block, Value};
use crate::ops::Op;
use crate::span::Span;
use crate::types::{DType, Elem, Shape, Type};

impl Checker<'_> {
    /// Statements of the kernel itself, where `return` may end the program, and what follows the blocks they are in:
    /// the statements, each with the number of scopes around them. After an `if` that may return, each branch continues
    /// with a copy of what follows: `if c { a; return; } b` is `if c { a } else { b }`.
    pub(super) fn top_level(&mut self, stmts: &[Stmt], continuation: &[(usize, &[Stmt])]) {
        for (i, stmt) in stmts.iter().enumerate() {
            let Stmt::Expr(expr) = stmt else {
                if let Stmt::Return(_) = stmt {
                    return;
                }
                self.stmt(stmt);
                continue;
            };
            if !returns(expr) {
                self.stmt(stmt);
                continue;
            }
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

    pub(super) fn misplaced_return(&mut self, span: Span) {
        let message = "a `return` here is not part of the kernel language";
        let help = "it ends the program from the top level of the kernel, or from an `if` there";
        let _: Option<()> = self.report(Diagnostic::new(Code::T0015, span, message).help(help));
    }

    /// The value of a condition: one `bool`.
    fn condition(&mut self, cond: &Expr) -> Option<Val> {
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
                    diagnostic
                        .help("choose element by element with `select(cond, a, b)`, or load and store under a mask")
                } else {
                    diagnostic.help("compare, as in `i < n`")
                })
            }
        }
    }

    pub(super) fn if_expr(&mut self, cond: &Expr, then: &Expr, otherwise: Option<&Expr>, span: Span) -> Option<Val> {
        let cond = self.condition(cond)?;
        let names = assigned_names([then].into_iter().chain(otherwise));
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
                (Some(_), Some(_)) => {}
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

    fn end(&mut self, block: Block, values: Vec<Value>, span: Span) {
        self.func.append_structured(block, Op::Yield {}, values, Vec::new(), &[], span);
    }

    pub(super) fn for_loop(
        &mut self,
        var: &Pattern,
        bounds: [&Expr; 2],
        step: Option<&Expr>,
        body: &[Stmt],
        span: Span,
    ) {
        let values = bounds.map(|e| self.expr(e).map(|v| (v, e.span)));
        let step = match step {
            Some(step) => self.expr(step).map(|v| (v, step.span)),
            None => Some((Val::Known(Known::Int(1)), span)),
        };
        let [start, end] = values;
        let counters = start.zip(end).zip(step).and_then(|((start, end), step)| self.counters([start, end, step]));
        let Some([start, end, step]) = counters else {
            // The body's own errors are worth reporting; its counter is not known.
            self.scopes.push(Default::default());
            self.bind_pattern(var, None);
            body.iter().for_each(|stmt| self.stmt(stmt));
            self.scopes.pop();
            return;
        };
        let counter = self.func.ty(start);
        let Some(carried) = self.carried(body, span) else { return };
        let outer = self.block;
        let block = self.func.add_block(&[&[counter], &carried.types[..]].concat());
        let params = self.func.blocks[block].params.clone();
        self.block = block;
        self.assume(&carried, &params[1..]);
        self.scopes.push(Default::default());
        self.bind_pattern(var, Some(Val::Ir(params[0])));
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.scopes.pop();
        let yielded = self.ends(&carried, span);
        self.block = outer;
        self.close(carried, Op::For { start, end, step }, vec![block], yielded, span);
    }

    /// Start, end and step as scalars of one integer type.
    fn counters(&mut self, parts: [(Val, Span); 3]) -> Option<[Value; 3]> {
        let dtype = parts.iter().find_map(|(v, _)| v.ty(&self.func)).and_then(|t| t.elem.num()).unwrap_or(DType::I32);
        if let Val::Known(known) = &parts[2].0
            && known.as_int().is_some_and(|step| step <= 0)
        {
            let message = format!("a step of {}: it must be positive", known.as_int().unwrap_or(0));
            return self.report(
                Diagnostic::new(Code::T0121, parts[2].1, message).help("count up, and compute the descending index"),
            );
        }
        let mut values = [Value(0); 3];
        for (slot, (value, span)) in values.iter_mut().zip(parts) {
            let found = self.describe(&value);
            *slot = self.materialise(value, Some(dtype), span)?;
            let ty = self.func.ty(*slot);
            if ty.shape != Shape::SCALAR || !ty.elem.num().is_some_and(|d| d.is_int() && d.bits() >= 32) {
                let message = format!("a loop counter is `i32`, `i64`, `u32` or `u64`, found `{found}`");
                let help = "write `lo..hi` with scalars; a tile is computed on at once, without a loop";
                return self.report(Diagnostic::new(Code::T0121, span, message).help(help));
            }
            if ty.elem != Elem::Num(dtype) {
                let message = format!("a range from `{dtype}` to `{found}`");
                return self.report(
                    Diagnostic::new(Code::T0102, span, message)
                        .help(format!("write `.to::<{}>()`", self.spelled(dtype))),
                );
            }
        }
        Some(values)
    }

    pub(super) fn while_loop(&mut self, cond: &Expr, body: &[Stmt], span: Span) {
        let assigned = self.slots(&assigned_names([cond]));
        if let Some((_, name)) = assigned.first() {
            let message = format!("the condition of a `while` assigns to `{name}`");
            let help = "assign before the loop and at the end of its body";
            let _: Option<()> = self.report(Diagnostic::new(Code::T0015, cond.span, message).help(help));
            return;
        }
        let Some(carried) = self.carried(body, span) else { return };
        let outer = self.block;
        let (condition, block) = (self.func.add_block(&carried.types), self.func.add_block(&carried.types));
        self.block = condition;
        let params = self.func.blocks[condition].params.clone();
        self.assume(&carried, &params);
        let cond = self.condition(cond).and_then(|value| self.materialise(value, None, span));
        self.end(condition, cond.into_iter().collect(), span);
        self.block = block;
        let params = self.func.blocks[block].params.clone();
        self.assume(&carried, &params);
        self.scopes.push(Default::default());
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.scopes.pop();
        let yielded = self.ends(&carried, span);
        self.block = outer;
        self.close(carried, Op::While {}, vec![condition, block], yielded.filter(|_| cond.is_some()), span);
    }

    /// Loop-carried variables: the outer variables that the body assigns, with their values before the loop.
    fn carried(&mut self, body: &[Stmt], span: Span) -> Option<Carried> {
        let mut assigned = Assigned::default();
        assigned.block(body, None);
        let Assigned { names, .. } = assigned;
        let mut carried = Carried { slots: Vec::new(), inits: Vec::new(), types: Vec::new() };
        for slot in self.slots(&names) {
            // A variable that was reported stays silent.
            let Some(value) = self.scopes[slot.0][&slot.1].clone() else { continue };
            let value = self.materialise(value, None, span)?;
            carried.inits.push(value);
            carried.types.push(self.func.ty(value));
            carried.slots.push(slot);
        }
        Some(carried)
    }

    /// Inside the loop, the carried variables are its parameters.
    fn assume(&mut self, carried: &Carried, params: &[Value]) {
        for ((scope, name), &param) in carried.slots.iter().zip(params) {
            self.scopes[*scope].insert(name.clone(), Some(Val::Ir(param)));
        }
    }

    /// The carried variables at the end of the body; `None` if one was reported.
    fn ends(&mut self, carried: &Carried, span: Span) -> Option<Vec<Value>> {
        let value = |cx: &mut Checker<'_>, (scope, name): &(usize, String)| {
            let value = cx.scopes[*scope][name].clone()?;
            cx.materialise(value, None, span)
        };
        carried.slots.iter().map(|slot| value(self, slot)).collect()
    }

    fn close(&mut self, carried: Carried, op: Op, regions: Vec<Block>, yielded: Option<Vec<Value>>, span: Span) {
        let Carried { slots, inits, types } = carried;
        let results = yielded.map(|yielded| {
            if let Some(&last) = regions.last() {
                self.end(last, yielded, span);
            }
            self.func.append_structured(self.block, op, inits, regions, &types, span)
        });
        for (i, (scope, name)) in slots.into_iter().enumerate() {
            let value = results.as_ref().and_then(|results| results.get(i)).map(|&v| Val::Ir(v));
            self.scopes[scope].insert(name, value);
        }
    }

    /// The scopes of the variables of these names.
    fn slots(&self, names: &[String]) -> Vec<(usize, String)> {
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
        Val::Ir(_) | Val::Known(_) | Val::View(_) | Val::Struct(..) | Val::Outer(_) | Val::Unit => {
            results.next().map_or(Val::Unit, Val::Ir)
        }
    }
}

/// Loop-carried variables: where they are, their values before the loop, and their types.
struct Carried {
    slots: Vec<(usize, String)>,
    inits: Vec<Value>,
    types: Vec<Type>,
}

/// A branch of an `if`.
struct Arm {
    block: Block,
    value: Option<Val>,
    bindings: Vec<Option<Val>>,
}

/// Whether a block or an `if` may end the program.
fn returns(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Block(stmts, tail) => {
            let stmt = |s: &Stmt| matches!(s, Stmt::Return(_)) || matches!(s, Stmt::Expr(e) if returns(e));
            stmts.iter().any(stmt) || tail.as_deref().is_some_and(returns)
        }
        ExprKind::If(_, then, otherwise) => returns(then) || otherwise.as_deref().is_some_and(returns),
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

/// Names outside these expressions that they assign to, each once, in order.
pub(super) fn assigned_names<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<String> {
    let mut found = Assigned::default();
    exprs.into_iter().for_each(|expr| found.expr(expr));
    found.names
}

/// Looks for the variables that blocks assign to and that are declared outside them.
#[derive(Default)]
struct Assigned {
    names: Vec<String>,
    /// Names that the blocks around have declared so far.
    declared: Vec<String>,
}

impl Assigned {
    /// Statements, which are a scope.
    fn block(&mut self, stmts: &[Stmt], tail: Option<&Expr>) {
        let outside = self.declared.len();
        stmts.iter().for_each(|stmt| self.stmt(stmt));
        tail.into_iter().for_each(|tail| self.expr(tail));
        self.declared.truncate(outside);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign { target, value, .. } => {
                if !self.declared.contains(&target.name) && !self.names.contains(&target.name) {
                    self.names.push(target.name.clone());
                }
                self.expr(value);
            }
            Stmt::Let { pattern, init, .. } => {
                self.expr(init);
                self.declare(pattern);
            }
            Stmt::Expr(expr) => self.expr(expr),
            Stmt::For { start, end, step, body, .. } => {
                [start, end].into_iter().chain(step).for_each(|e| self.expr(e));
                self.block(body, None);
            }
            Stmt::While { cond, body, .. } => {
                self.expr(cond);
                self.block(body, None);
            }
            Stmt::Assert { cond, .. } => self.expr(cond),
            Stmt::Print { args, .. } => args.iter().for_each(|e| self.expr(e)),
            Stmt::Const { .. } | Stmt::Return(_) | Stmt::ConstAssert { .. } => {}
        }
    }

    fn declare(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name { name, .. } => self.declared.push(name.name.clone()),
            Pattern::Wild => {}
            Pattern::Tuple(parts, _) => parts.iter().for_each(|part| self.declare(part)),
        }
    }

    /// Only blocks and branches hold statements.
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Block(stmts, tail) => self.block(stmts, tail.as_deref()),
            ExprKind::If(cond, then, otherwise) => {
                [cond, then].into_iter().chain(otherwise).for_each(|e| self.expr(e));
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a, _) | ExprKind::Field(a, _) => self.expr(a),
            ExprKind::Binary(_, _, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Call(_, args) | ExprKind::Tuple(args) | ExprKind::Array(args) => {
                args.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Method { receiver, args, .. } => {
                self.expr(receiver);
                args.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Bool(_) | ExprKind::Path(_) | ExprKind::Closure(..) => {
            }
        }
    }
}
