//! Induction variables: pointers that a loop carries and steps become functions of its counter.
//!
//! *Before:* a loop carries a pointer, or a tile of them, and yields it a number of elements further, the same number in every turn.
//! *After:* in turn `i` it is the first one, `i` times that number further; nothing is carried. So the address of any turn is known
//! before the turns up to it have run, which is what loads ahead of their use ask for (the rings of
//! [`crate::passes::memory::schedule`]), and a tile's addresses differ between turns by one scalar. This is the inverse of strength
//! reduction (Allen, Cocke and Kennedy, "Reduction of operator strength", 1981).
//!
//! The product is of 64 bits, as addresses are: it wraps nowhere that repeated steps do not. What is used after the loop is the first pointer,
//! as many times further as the loop has turns. A pointer of a loop whose step is not constant stays. Requires stage 0.

use crate::analysis::defs::Defs;
use crate::hash::WordMap;
use crate::ir::{Function, Inst, Value};
use crate::ops::Op;
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::span::Span;
use crate::types::{Constant, DType, Elem, Shape};

/// See the [module's page](self).
///
/// # Errors
/// A bug in this pass.
pub fn induct(func: &mut Function) -> Result<(), String> {
    let loops: Vec<Inst> = func.walk().into_iter().filter(|&inst| carries_pointers(func, inst)).collect();
    if loops.is_empty() {
        return Ok(());
    }
    let defs = Defs::of(func);
    loops.into_iter().try_for_each(|inst| of_loop(func, &defs, inst))
}

fn carries_pointers(func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    matches!(data.op, Op::For { .. }) && data.args.iter().any(|&v| matches!(func.ty(v).elem, Elem::Ptr { .. }))
}

/// A pointer that a loop steps.
struct Stepped {
    /// Its place among what the loop carries.
    position: usize,
    /// The scalar number of elements of a step.
    by: Value,
}

/// The pointers of a loop that are stepped.
fn stepped(func: &Function, defs: &Defs, inst: Inst) -> Vec<Stepped> {
    let data = &func.insts[inst];
    let region = data.regions[0];
    let inside = func.defined_in(&[region]);
    let yielded = func.yielded(region);
    let step = |position: usize| {
        let param = *func.blocks[region].params.get(position + 1)?;
        matches!(func.ty(param).elem, Elem::Ptr { .. }).then_some(())?;
        let Op::Offset { ptr, index } = defs.op(func, *yielded.get(position)?)? else { return None };
        let by = match defs.op(func, index) {
            Some(Op::Splat { x, .. }) => x,
            _ => index,
        };
        let is_uniform = func.ty(by).shape == Shape::SCALAR;
        (unhinted(func, defs, ptr) == param && !inside[by] && is_uniform).then_some(Stepped { position, by })
    };
    (0..data.args.len()).filter_map(step).collect()
}

/// What a value is, without what is promised of it.
fn unhinted(func: &Function, defs: &Defs, value: Value) -> Value {
    match defs.op(func, value) {
        Some(Op::Hint { x, .. }) => unhinted(func, defs, x),
        Some(_) | None => value,
    }
}

fn of_loop(func: &mut Function, defs: &Defs, inst: Inst) -> Result<(), String> {
    let stepped = stepped(func, defs, inst);
    let (op, region, span) = (func.insts[inst].op, func.insts[inst].regions[0], func.insts[inst].span);
    let Op::For { start, end, step } = op else { return Ok(()) };
    let Some(step) = defs.constant(func, step).and_then(Constant::as_int).filter(|step| *step > 0) else {
        return Ok(());
    };
    if stepped.is_empty() {
        return Ok(());
    }
    let (mut before, mut first, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let counter = func.blocks[region].params[0];
    let turn = turn(func, defs, (counter, start, step), span, (&mut before, &mut first))?;
    let mut turns = None;
    let mut renamed: WordMap<Value, Value> = WordMap::default();
    for &Stepped { position, by } in &stepped {
        let (init, param) = (func.insts[inst].args[position], func.blocks[region].params[position + 1]);
        let by = wide(func, by, span, &mut before)?;
        renamed.insert(param, further(func, init, (turn, by), span, &mut first)?);
        let last = func.insts[inst].results[position];
        if defs.uses(last) > 0 {
            let all = match turns {
                Some(all) => all,
                None => *turns.insert(number_of_turns(func, (start, end, step), span, &mut after)?),
            };
            renamed.insert(last, further(func, init, (all, by), span, &mut after)?);
        }
    }
    func.replace_uses(&renamed);
    func.blocks[region].insts.splice(0..0, first);
    let end = *func.blocks[region].insts.last().ok_or("a loop without an end")?;
    for &Stepped { position, .. } in stepped.iter().rev() {
        func.insts[inst].args.remove(position);
        func.insts[inst].results.remove(position);
        func.insts[end].args.remove(position);
        func.blocks[region].params.remove(position + 1);
    }
    let block = defs.block_of(inst).ok_or("a loop that is in no block")?;
    let at = func.blocks[block].insts.iter().position(|&i| i == inst).ok_or("a loop that is in no block")?;
    func.blocks[block].insts.splice(at + 1..at + 1, after);
    func.blocks[block].insts.splice(at..at, before);
    Ok(())
}

/// A pointer, or a tile of them, this many times a number of elements further.
fn further(
    func: &mut Function,
    ptr: Value,
    (times, by): (Value, Value),
    span: Span,
    insts: &mut Vec<Inst>,
) -> Result<Value, String> {
    let mut index = func.compute(Op::Binary { kind: BinaryKind::Mul, a: times, b: by }, span, insts)?;
    let shape = func.ty(ptr).shape;
    if shape != Shape::SCALAR {
        index = func.compute(Op::Splat { x: index, shape }, span, insts)?;
    }
    func.compute(Op::Offset { ptr, index }, span, insts)
}

/// How many turns a loop has.
fn number_of_turns(
    func: &mut Function,
    (start, end, step): (Value, Value, i128),
    span: Span,
    insts: &mut Vec<Inst>,
) -> Result<Value, String> {
    let runs = func.compute(Op::Compare { kind: CompareKind::Lt, a: start, b: end }, span, insts)?;
    let [start, end] = [wide(func, start, span, insts)?, wide(func, end, span, insts)?];
    let mut number = |value| func.compute(Op::Const { value: Constant::int(DType::I64, value) }, span, insts);
    let [none, rest, step] = [number(0)?, number(step - 1)?, number(step)?];
    let mut binary = |kind, a, b| func.compute(Op::Binary { kind, a, b }, span, insts);
    let distance = binary(BinaryKind::Sub, end, start)?;
    let distance = binary(BinaryKind::Add, distance, rest)?;
    let turns = binary(BinaryKind::Div, distance, step)?;
    func.compute(Op::Select { cond: runs, a: turns, b: none }, span, insts)
}

/// The number of the turn, from 0, of a loop by its counter, its start and its step.
fn turn(
    func: &mut Function,
    defs: &Defs,
    (counter, start, step): (Value, Value, i128),
    span: Span,
    (before, first): (&mut Vec<Inst>, &mut Vec<Inst>),
) -> Result<Value, String> {
    let mut turn = wide(func, counter, span, first)?;
    if defs.constant(func, start).and_then(Constant::as_int) != Some(0) {
        let start = wide(func, start, span, before)?;
        turn = func.compute(Op::Binary { kind: BinaryKind::Sub, a: turn, b: start }, span, first)?;
    }
    // The turns are multiples of the step apart: a shift divides them.
    let (kind, by) = match step {
        1 => return Ok(turn),
        step if step & (step - 1) == 0 => (BinaryKind::Shr, i128::from(step.trailing_zeros())),
        step => (BinaryKind::Div, step),
    };
    let by = func.compute(Op::Const { value: Constant::int(DType::I64, by) }, span, before)?;
    func.compute(Op::Binary { kind, a: turn, b: by }, span, first)
}

/// A scalar as an `i64`.
fn wide(func: &mut Function, x: Value, span: Span, insts: &mut Vec<Inst>) -> Result<Value, String> {
    match func.ty(x).elem {
        Elem::Num(DType::I64) => Ok(x),
        Elem::Num(_) | Elem::Ptr { .. } => func.compute(Op::Cast { x, to: DType::I64 }, span, insts),
    }
}
