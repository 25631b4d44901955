//! Loops: `for`, `while` and `loop`.
//!
//! Outer variables that a loop assigns are loop-carried. A loop that an exit may end carries the exit's flag, too, and runs while that is
//! not set: a `for` is then a `while` that counts.

use super::Checker;
use super::assigned::{Assigned, Flag};
use super::value::{Known, Val};
use crate::ast::{BinaryOp, Expr, ExprKind, Pattern, Stmt, Turns};
use crate::diag::{Code, Diagnostic};
use crate::ir::{Block, Value};
use crate::ops::Op;
use crate::ops::kinds::{BinaryKind, CompareKind, UnaryKind};
use crate::span::Span;
use crate::types::{DType, Elem, STAGES, Shape, Type};

impl Checker<'_> {
    pub(super) fn for_loop(
        &mut self,
        var: &Pattern,
        bounds: [&Expr; 2],
        step: Option<&Expr>,
        turns: &Turns,
        body: &[Stmt],
        span: Span,
    ) {
        let stages = if let Turns::Loop(Some(written)) = turns { self.stages(written) } else { None };
        let values = bounds.map(|e| self.expr(e).map(|v| (v, e.span)));
        let step = match step {
            Some(step) => self.expr(step).map(|v| (v, step.span)),
            None => Some((Val::Known(Known::Int(1)), span)),
        };
        let [start, end] = values;
        let by_one = step.as_ref().is_some_and(|(v, _)| matches!(v, Val::Known(known) if known.as_int() == Some(1)));
        let range = start.zip(end).zip(step).map(|((start, end), step)| [start, end, step]);
        let mut counters = range.clone().and_then(|range| self.counters(range));
        if let Some(range) = range.filter(|_| *turns == Turns::Unrolled && counters.is_some()) {
            match self.unrolled(var, range, body, span) {
                Some(()) => return,
                None => counters = None,
            }
        }
        let Some([start, end, step]) = counters else {
            // The body's own errors are worth reporting; its counter is not known.
            self.scopes.push(Default::default());
            self.exits(body).iter().for_each(|flag| self.bind(flag.clone(), Some(Val::Known(Known::bool(false)))));
            self.body(body, |cx| cx.bind_pattern(var, None));
            self.scopes.pop();
            return;
        };
        let exits = self.exits(body);
        if !exits.is_empty() {
            return self.counting(var, [start, end, step], by_one, body, span);
        }
        let counter = self.func.ty(start);
        let Some(carried) = self.carried(&[], body, span) else { return };
        let outer = self.block;
        let block = self.func.add_block(&[&[counter], &carried.types[..]].concat());
        let params = self.func.blocks[block].params.clone();
        self.block = block;
        self.assume(&carried, &params[1..]);
        self.body(body, |cx| cx.bind_pattern(var, Some(Val::Ir(params[0]))));
        let yielded = self.ends(&carried, span);
        self.block = outer;
        self.close(carried, Op::For { start, end, step }, vec![block], yielded, span);
        if let Some(&inst) = self.func.blocks[outer].insts.last()
            && self.func.insts[inst].regions == [block]
        {
            self.func.stages_of[inst] = stages;
        }
    }

    /// The number of `#[stages(n)]`.
    fn stages(&mut self, written: &Expr) -> Option<u32> {
        let value = self.expr(written)?;
        let number = if let Val::Known(known) = &value { known.as_int() } else { None };
        let Some(number) = number else { return self.not_known(&value, written.span, "the number of `#[stages]`") };
        if let Some(stages) = u32::try_from(number).ok().filter(|stages| STAGES.contains(stages)) {
            return Some(stages);
        }
        let message = format!("`#[stages]` takes a number from 1 to 8, not {number}");
        let help = "write `#[stages(3)]`, or leave it out for the kernel's `num_stages`; 1 loads nothing ahead";
        self.report(Diagnostic::new(Code::T0008, written.span, message).help(help))
    }

    /// Start, end and step as scalars of one integer type.
    fn counters(&mut self, parts: [(Val, Span); 3]) -> Option<[Value; 3]> {
        let dtype = parts.iter().find_map(|(v, _)| v.ty(&self.func)).and_then(|t| t.elem.num()).unwrap_or(DType::I32);
        if let Val::Known(known) = &parts[2].0
            && known.as_int().is_some_and(|step| step <= 0)
        {
            let step = known.as_int().unwrap_or(0);
            let message = format!("a step of {step}: it must be positive");
            let help = match step {
                0 => "write a step of 1 or more",
                _ => "count up, and compute the descending index: `let k = hi - 1 - i;`",
            };
            return self.report(Diagnostic::new(Code::T0121, parts[2].1, message).help(help));
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

    /// A `for` that an exit may end. It tests before each iteration, and never counts past what the type holds: by ones the end is
    /// near enough to be compared with, and otherwise an iteration says whether the rest is longer than a step.
    fn counting(&mut self, var: &Pattern, [start, end, step]: [Value; 3], by_one: bool, body: &[Stmt], span: Span) {
        let (counter, more) = (format!("counter {}", self.loops), format!("more {}", self.loops));
        let more_at_first = if by_one { None } else { self.first_runs([start, end, step], span) };
        self.scopes.push(Default::default());
        self.bind(counter.clone(), Some(Val::Ir(start)));
        self.bind(more.clone(), more_at_first.clone());
        let own = if by_one { vec![counter.clone()] } else { vec![counter.clone(), more.clone()] };
        let test = |cx: &mut Checker<'_>, left: Val| {
            let runs = if by_one {
                let (kind, a) = (CompareKind::Lt, cx.variable(&counter)?);
                cx.append(Op::Compare { kind, a, b: end }, span)?
            } else {
                cx.variable(&more)?
            };
            cx.unless(left, Val::Ir(runs), span)
        };
        let name = |cx: &mut Checker<'_>| {
            let value = cx.variable(&counter).map(Val::Ir);
            cx.bind_pattern(var, value);
        };
        let next = |cx: &mut Checker<'_>| {
            let at = cx.variable(&counter)?;
            if !by_one {
                let rest = cx.append(Op::Binary { kind: BinaryKind::Sub, a: end, b: at }, span)?;
                let [rest, step] = [cx.unsigned(rest, span)?, cx.unsigned(step, span)?];
                let longer = cx.append(Op::Compare { kind: CompareKind::Gt, a: rest, b: step }, span)?;
                cx.set(&more, longer);
            }
            let next = cx.append(Op::Binary { kind: BinaryKind::Add, a: at, b: step }, span)?;
            cx.set(&counter, next);
            Some(())
        };
        self.until_exit(&own, body, span, test, name, next);
        self.scopes.pop();
    }

    /// Whether a range has a number. A step that is not positive is divided by 0.
    fn first_runs(&mut self, [start, end, step]: [Value; 3], span: Span) -> Option<Val> {
        let runs = self.append(Op::Compare { kind: CompareKind::Lt, a: start, b: end }, span).map(Val::Ir)?;
        let dtype = self.num(step)?;
        let checked = |cx: &mut Checker<'_>| {
            let [zero, one] = [0, 1].map(|value| cx.materialise(Val::Known(Known::int(dtype, value)), None, span));
            let positive = cx.append(Op::Binary { kind: BinaryKind::Max, a: step, b: zero? }, span)?;
            let quotient = cx.append(Op::Binary { kind: BinaryKind::Div, a: step, b: positive }, span)?;
            cx.append(Op::Compare { kind: CompareKind::Eq, a: quotient, b: one? }, span).map(Val::Ir)
        };
        self.branch(runs, &[], span, checked, |_| Some(Val::Known(Known::bool(false))))
    }

    fn unsigned(&mut self, value: Value, span: Span) -> Option<Value> {
        let dtype = self.num(value)?;
        let to = if dtype.bits() == 64 { DType::U64 } else { DType::U32 };
        if dtype.is_signed() && dtype.bits() >= 32 { self.append(Op::Cast { x: value, to }, span) } else { Some(value) }
    }

    /// The value of a variable of the checker's own.
    fn variable(&self, name: &str) -> Option<Value> {
        let value = self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned().flatten();
        if let Some(Val::Ir(value)) = value { Some(value) } else { None }
    }

    fn set(&mut self, name: &str, value: Value) {
        if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name)) {
            scope.insert(name.to_owned(), Some(Val::Ir(value)));
        }
    }

    pub(super) fn while_loop(&mut self, cond: &Expr, body: &[Stmt], span: Span) {
        let assigned = self.slots(&self.assigned_names([cond]));
        if let Some((_, name)) = assigned.first() {
            let message = format!("the condition of a `while` assigns to `{name}`");
            let help = "assign before the loop and at the end of its body";
            let _: Option<()> = self.report(Diagnostic::new(Code::T0015, cond.span, message).help(help));
            return;
        }
        if !self.exits(body).is_empty() {
            let test = |cx: &mut Checker<'_>, left: Val| {
                if is_simple(cond) {
                    let holds = cx.condition(cond)?;
                    return cx.unless(left, holds, span);
                }
                let ends = |_: &mut Checker<'_>| Some(Val::Known(Known::bool(false)));
                cx.branch(left, &[], span, ends, |cx| cx.condition(cond))
            };
            return self.until_exit(&[], body, span, test, |_| {}, |_| Some(()));
        }
        if let ExprKind::Bool(true) = cond.kind {
            let problem = Diagnostic::new(Code::T0015, span, "nothing ends this loop");
            let _: Option<()> =
                self.report(problem.help("end it with `if .. { break; }`, or write `while condition { .. }`"));
            return;
        }
        let test = |cx: &mut Checker<'_>| cx.condition(cond).and_then(|value| cx.materialise(value, None, span));
        self.test_and_run(&[], body, span, test, |_| {}, |_| Some(()));
    }

    /// A loop whose test comes first. `own` are variables of the checker's that it carries before those that the body assigns,
    /// `begin` binds what the body is given, and `next` comes after it.
    fn test_and_run(
        &mut self,
        own: &[String],
        body: &[Stmt],
        span: Span,
        test: impl FnOnce(&mut Checker<'_>) -> Option<Value>,
        begin: impl FnOnce(&mut Checker<'_>),
        next: impl FnOnce(&mut Checker<'_>) -> Option<()>,
    ) {
        let Some(carried) = self.carried(own, body, span) else { return };
        let outer = self.block;
        let (condition, block) = (self.func.add_block(&carried.types), self.func.add_block(&carried.types));
        self.block = condition;
        let params = self.func.blocks[condition].params.clone();
        self.assume(&carried, &params);
        let cond = test(self);
        self.end(condition, cond.into_iter().collect(), span);
        self.block = block;
        let params = self.func.blocks[block].params.clone();
        self.assume(&carried, &params);
        self.body(body, begin);
        let next = next(self);
        let yielded = self.ends(&carried, span);
        self.block = outer;
        let yielded = yielded.filter(|_| cond.is_some() && next.is_some());
        self.close(carried, Op::While {}, vec![condition, block], yielded, span);
    }

    /// The same for one that also ends by the flags of its exits: `test` is given whether one is set.
    fn until_exit(
        &mut self,
        own: &[String],
        body: &[Stmt],
        span: Span,
        test: impl FnOnce(&mut Checker<'_>, Val) -> Option<Val>,
        begin: impl FnOnce(&mut Checker<'_>),
        next: impl FnOnce(&mut Checker<'_>) -> Option<()>,
    ) {
        let exits = self.exits(body);
        self.scopes.push(Default::default());
        let flag = Flag::Break(self.loops).name();
        if exits.contains(&flag) {
            self.bind(flag, Some(Val::Known(Known::bool(false))));
        }
        let goes_on = |cx: &mut Checker<'_>| {
            let left = cx.stopped(&exits, span)?;
            let goes_on = test(cx, left)?;
            cx.materialise(goes_on, None, span)
        };
        self.test_and_run(own, body, span, goes_on, begin, next);
        self.scopes.pop();
    }

    /// Whether a condition holds and no exit was taken.
    fn unless(&mut self, left: Val, holds: Val, span: Span) -> Option<Val> {
        let stays = self.unary(UnaryKind::Not, left, span)?;
        if holds == Val::Known(Known::bool(true)) {
            return Some(stays);
        }
        self.binary(BinaryOp::BitAnd, span, (stays, span), (holds, span))
    }

    /// The flags that the body of a loop here may set and that end the loop.
    pub(super) fn exits(&self, body: &[Stmt]) -> Vec<String> {
        let mut assigned = Assigned::inside(self.loops + 1);
        assigned.block(body, None);
        let next = Flag::Continue(self.loops).name();
        assigned.names.retain(|name| Flag::is(name) && *name != next);
        assigned.names
    }

    /// The body of a loop, which `begin` gives its counter. No flag is set when it begins.
    pub(super) fn body(&mut self, body: &[Stmt], begin: impl FnOnce(&mut Checker<'_>)) {
        for (slot, name) in self.slots(&self.exits(body)) {
            self.scopes[slot].insert(name, Some(Val::Known(Known::bool(false))));
        }
        self.scopes.push(Default::default());
        self.bind(Flag::Continue(self.loops).name(), Some(Val::Known(Known::bool(false))));
        begin(self);
        self.loops += 1;
        self.sequence(body);
        self.loops -= 1;
        self.scopes.pop();
    }

    /// Loop-carried variables: the checker's own, and the outer variables that the body assigns, with their values before the loop.
    fn carried(&mut self, own: &[String], body: &[Stmt], span: Span) -> Option<Carried> {
        let mut assigned = Assigned::inside(self.loops + 1);
        assigned.block(body, None);
        let names: Vec<String> = own.iter().cloned().chain(assigned.names).collect();
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
}

/// Loop-carried variables: where they are, their values before the loop, and their types.
struct Carried {
    slots: Vec<(usize, String)>,
    inits: Vec<Value>,
    types: Vec<Type>,
}

/// Whether a condition may be computed after an exit, where the program does not test it: it reads no memory, and does not fail.
fn is_simple(cond: &Expr) -> bool {
    match &cond.kind {
        ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Bool(_) | ExprKind::Path(_) => true,
        ExprKind::Unary(_, a) | ExprKind::Cast(a, _) | ExprKind::Field(a, _) => is_simple(a),
        ExprKind::Binary(op, _, a, b) => {
            let steps = !matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::And | BinaryOp::Or);
            steps && is_simple(a) && is_simple(b)
        }
        ExprKind::Call(..)
        | ExprKind::Method { .. }
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Block(..)
        | ExprKind::If(..)
        | ExprKind::Closure(..) => false,
    }
}
