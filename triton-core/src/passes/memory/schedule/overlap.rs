//! The second product of a turn goes on beside the first one of the next turn.
//!
//! *Before:* a turn multiplies twice, and its second product adds what threads compute of the first one to a sum that the loop carries:
//! scores, then probabilities times values. Tensor cores wait for the threads in between, and threads for them. *After:* the loop is rotated by
//! a product. A turn begins its first product and, after it, the second one of the turn before. Threads compute with the first sum while the
//! second product goes on; then they scale what it adds to. The first part of the first turn is before the loop, and the second part of the
//! last one after it, under the condition that there is a turn.
//! (Shah, Bikshandi, Zhang, Thakkar, Ramani and Dao, "FlashAttention-3", 2024, section 3.2, algorithm 2.)
//!
//! The left operand of the second product is in registers, and all that the other operand's ring is for is this product. What the second part
//! takes of the first one, the loop carries.

use crate::analysis::defs::Defs;
use crate::hash::WordMap;
use crate::ir::{Block, BlockData, Function, Inst, InstData, Value, in_flight};
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{Effect, Op, RingStep};
use crate::types::{Constant, DType, RingId};

/// A turn in two parts, each in the order of its body.
struct Parts {
    /// Of the first one, what comes before its product, what follows it, and what has to wait for the second product of the turn before.
    before: Vec<Inst>,
    first: Inst,
    beside: Vec<Inst>,
    after: Vec<Inst>,
    /// Of the second one, what comes before its product, and what follows it.
    ready: Vec<Inst>,
    second: Inst,
    done: Vec<Inst>,
    /// Which of what the loop carries is the second sum, and what is yielded for it.
    carried: usize,
    sum: Value,
    /// What the second part takes of the first one, but for the item.
    crossing: Vec<Value>,
}

/// Whether a loop can be rotated.
pub(super) fn is_possible(func: &Function, around: Inst) -> bool {
    Parts::of(func, around).is_some()
}

/// Rotates a loop in a block, if it can be.
///
/// # Errors
/// None for a function that the verifier accepts.
pub(super) fn overlap(func: &mut Function, block: Block, around: Inst) -> Result<(), String> {
    let Some(parts) = Parts::of(func, around) else { return Ok(()) };
    let InstData { op: Op::For { start, end, step }, ref args, ref regions, ref results, span } = func.insts[around]
    else {
        return Ok(());
    };
    let (inits, region, results) = (args.clone(), regions[0], results.clone());
    let BlockData { params, insts } = func.blocks[region].clone();
    let (&counter, given) = params.split_first().ok_or("a loop without a counter")?;
    let (&item, _) = given.split_last().ok_or("a loop that counts no items")?;
    let yields = func.yielded(region).to_vec();
    let is_second = |inst: &Inst| *inst == parts.second || parts.ready.contains(inst) || parts.done.contains(inst);

    // The first turn, and the last one's second part, are copies.
    let copy = func.copy_block(region);
    let mut copies: WordMap<Value, Value> = params.iter().copied().zip(func.blocks[copy].params.clone()).collect();
    let of_copy = func.blocks[copy].insts.clone();
    for (&inst, &copied) in insts.iter().zip(&of_copy) {
        copies.extend(func.insts[inst].results.iter().copied().zip(func.insts[copied].results.iter().copied()));
    }
    let split = |second: bool| {
        let of = insts.iter().zip(&of_copy).filter(move |&(inst, _)| is_second(inst) == second);
        of.map(|(_, &copied)| copied).collect::<Vec<Inst>>()
    };
    let (mut first_turn, last_turn) = (split(false), split(true));
    let entry: WordMap<Value, Value> =
        [start].iter().chain(&inits).zip(&params).map(|(&init, param)| (copies[param], init)).collect();
    rename(func, &first_turn, &entry);
    let ended = first_turn.pop().ok_or("a loop without an end")?;
    let of_first = func.insts[ended].args.clone();
    let crossed: Vec<Value> =
        parts.crossing.iter().map(|v| entry.get(&copies[v]).copied().unwrap_or(copies[v])).collect();

    // The loop, from the second turn on: what crosses its back edge comes before the item, in place of the sum.
    let mut then = first_turn;
    let next = func.compute(Op::Binary { kind: BinaryKind::Add, a: start, b: step }, span, &mut then)?;
    let cond = func.compute(Op::Compare { kind: CompareKind::Lt, a: start, b: next }, span, &mut then)?;
    let next = func.compute(Op::Select { cond, a: next, b: end }, span, &mut then)?;
    let through: Vec<Value> = parts.crossing.iter().map(|&v| func.copy_value(v)).collect();
    let carry = |all: &[Value], crossing: &[Value]| {
        let (item, others) = all.split_last()?;
        let kept = others.iter().enumerate().filter(|&(number, _)| number != parts.carried).map(|(_, &v)| v);
        Some(kept.chain(crossing.iter().copied()).chain([*item]).collect::<Vec<Value>>())
    };
    // What the second product adds to may be what the loop carries itself.
    let acc = given[parts.carried];
    let crossing: Vec<Value> = parts.crossing.iter().map(|&v| if v == acc { parts.sum } else { v }).collect();
    let lists = (carry(&of_first, &crossed), carry(given, &through), carry(&yields, &crossing));
    let (Some(args), Some(carried), Some(yielded)) = lists else { return Err("a loop that counts no items".into()) };
    let of_loop: Vec<Value> = carried.iter().map(|&v| func.copy_value(v)).collect();
    let mut body = parts.before.clone();
    let before = item_before(func, item, span, &mut body)?;
    let mut taken: WordMap<Value, Value> = parts.crossing.iter().copied().zip(through).collect();
    taken.insert(item, before);
    rename(func, &[&parts.ready[..], &[parts.second], &parts.done].concat(), &taken);
    rename(func, &parts.after, &WordMap::from_iter([(acc, parts.sum)]));
    body.extend(parts.ready.iter().copied().chain([parts.first, parts.second]));
    body.extend(parts.beside.iter().chain(&parts.done).chain(&parts.after).copied());
    body.extend(insts.last());
    let end_of_turn = *insts.last().ok_or("a loop without an end")?;
    func.insts[end_of_turn].args = yielded;
    func.blocks[region] = BlockData { params: [counter].into_iter().chain(carried).collect(), insts: body };
    let data = &mut func.insts[around];
    (data.op, data.args, data.results) = (Op::For { start: next, end, step }, args, of_loop.clone());
    then.push(around);

    // The second part of the last turn.
    let (&last_item, others) = of_loop.split_last().ok_or("a loop that counts no items")?;
    let crossing = others.iter().skip(others.len() - parts.crossing.len());
    let mut taken: WordMap<Value, Value> = crossed_names(&parts, &copies).zip(crossing.copied()).collect();
    let before = item_before(func, last_item, span, &mut then)?;
    taken.insert(copies[&item], before);
    rename(func, &last_turn, &taken);
    then.extend(last_turn);
    let mut all = others[..others.len() - parts.crossing.len()].to_vec();
    all.insert(parts.carried, copies[&parts.sum]);
    all.push(last_item);

    let mut insts = Vec::new();
    let any = func.compute(Op::Compare { kind: CompareKind::Lt, a: start, b: end }, span, &mut insts)?;
    let mut branch = |insts: Vec<Inst>, yields: Vec<Value>| {
        let branch = func.blocks.push(BlockData { params: Vec::new(), insts });
        func.append_structured(branch, Op::Yield {}, yields, Vec::new(), &[], span);
        branch
    };
    let regions = vec![branch(then, all), branch(Vec::new(), inits)];
    insts.push(func.insts.push(InstData { op: Op::If { cond: any }, args: Vec::new(), regions, results, span }));
    let at = func.blocks[block].insts.iter().position(|&inst| inst == around).ok_or("a loop that is in no block")?;
    func.blocks[block].insts.splice(at..=at, insts);
    Ok(())
}

/// What the copy of the second part calls what crosses.
fn crossed_names<'a>(parts: &'a Parts, copies: &'a WordMap<Value, Value>) -> impl Iterator<Item = Value> + 'a {
    parts.crossing.iter().map(|v| copies[v])
}

fn item_before(
    func: &mut Function,
    item: Value,
    span: crate::span::Span,
    insts: &mut Vec<Inst>,
) -> Result<Value, String> {
    let one = func.compute(Op::Const { value: Constant::int(DType::I32, -1) }, span, insts)?;
    func.compute(Op::Binary { kind: BinaryKind::Add, a: item, b: one }, span, insts)
}

/// Gives values other names in instructions, and in those inside them.
fn rename(func: &mut Function, insts: &[Inst], names: &WordMap<Value, Value>) {
    let mut inside = Vec::new();
    insts.iter().for_each(|&inst| func.walk_inst(inst, &mut inside));
    inside.into_iter().for_each(|inst| func.insts[inst].map_operands(|v| names.get(&v).copied().unwrap_or(v)));
}

impl Parts {
    fn of(func: &Function, around: Inst) -> Option<Parts> {
        let Op::For { .. } = func.insts[around].op else { return None };
        let region = func.insts[around].regions[0];
        let (_, body) = func.blocks[region].insts.split_last()?;
        let defs = Defs::of(func);
        let mut all = Vec::new();
        body.iter().for_each(|&inst| func.walk_inst(inst, &mut all));
        let products: Vec<Inst> = all.into_iter().filter(|&inst| in_flight::is_product(&func.insts[inst].op)).collect();
        let &[first, second] = &products[..] else { return None };
        let Op::Dot { a, b, .. } = func.insts[second].op else { return None };
        func.layout_id(a)?;
        let wait = defs.only_user(*func.insts[second].results.first()?)?;
        let Op::DotWait { .. } = func.insts[wait].op else { return None };
        let &[sum] = &func.insts[wait].results[..] else { return None };
        let carried = func.yielded(region).iter().position(|&v| v == sum).filter(|_| defs.is_used_once(sum))?;
        let acc = *func.blocks[region].params.get(carried + 1)?;

        // The second part: that product, and its ring.
        let buffers = func.buffer_of();
        let ring_of = |v: Value| Some(func.ring_of(buffers[v].unwrap_or(v))?.0);
        let ring = ring_of(b)?;
        let is_second = |inst: &Inst| *inst == second || *inst == wait || is_of_ring(func, *inst, ring, &ring_of);
        let of_second: Vec<Inst> = body.iter().filter(|inst| is_second(inst)).copied().collect();
        let at = |inst: Inst| body.iter().position(|&other| other == inst);
        let waits = |&&inst: &&Inst| matches!(func.insts[inst].op, Op::RingWait { .. });
        let position = of_second.iter().position(|&inst| inst == second)?;
        if of_second.iter().filter(waits).count() != 1 || at(first)? > at(second)? {
            return None;
        }
        let (ready, done) = (of_second[..position].to_vec(), of_second[position + 1..].to_vec());
        let mut operands: Vec<Value> = Vec::new();
        of_second.iter().for_each(|&inst| func.insts[inst].for_each_operand(|v| operands.push(v)));
        let item = *func.blocks[region].params.last()?;
        let inside = func.defined_in(&[region]);
        let own = |v: Value| of_second.iter().any(|&inst| func.insts[inst].results.contains(&v));
        let mut crossing = Vec::new();
        for v in operands.into_iter().filter(|&v| inside[v] && v != item && !own(v)) {
            if !crossing.contains(&v) {
                crossing.push(v);
            }
        }

        // Threads compute the operand from the first sum: else both products go on together anyway.
        let mut of_first = func.insts[first].results.clone();
        for &inst in body.iter().filter(|inst| !of_second.contains(inst)) {
            if operands_inside(func, inst).iter().any(|v| of_first.contains(v)) {
                of_first.extend(&func.insts[inst].results);
            }
        }
        if !of_first.contains(&a) {
            return None;
        }

        // Of the first part, what waits for the sum, and roundings of the operand, whose registers are read until then.
        let mut after: Vec<Inst> = Vec::new();
        let mut taken = vec![acc];
        for &inst in body.iter().filter(|inst| !of_second.contains(inst)) {
            let data = &func.insts[inst];
            if operands_inside(func, inst).iter().any(|v| taken.contains(v)) {
                if data.op.effect() != Effect::Pure || !data.regions.is_empty() || inst == first {
                    return None;
                }
                taken.extend(&data.results);
                after.push(inst);
            }
        }
        let mut operand = a;
        while let Some(inst) = defs.definition_in(operand, region)
            && let Op::Cast { x, .. } | Op::Convert { x } = func.insts[inst].op
            && defs.users(operand).all(|user| user == second || after.contains(&user))
        {
            after.push(inst);
            operand = x;
        }
        let after: Vec<Inst> = body.iter().filter(|inst| after.contains(inst)).copied().collect();
        let rest = body.iter().filter(|inst| !of_second.contains(inst) && !after.contains(inst) && **inst != first);
        let (before, beside) = rest.partition(|&&inst| at(inst) < at(first));
        Some(Parts { before, first, beside, after, ready, second, done, carried, sum, crossing })
    }
}

/// Whether an instruction is a consumer's step of a ring, or sees a slot of it in another shape.
fn is_of_ring(func: &Function, inst: Inst, ring: RingId, ring_of: &impl Fn(Value) -> Option<RingId>) -> bool {
    let data = &func.insts[inst];
    match data.op.ring_step() {
        Some(RingStep::Fill(..)) => false,
        Some(step) => step.buffer().map_or(step.ring(), ring_of) == Some(ring),
        None => func.aliased(data).is_some_and(|(x, _)| ring_of(x) == Some(ring)),
    }
}

/// What an instruction takes, and what those inside it do.
fn operands_inside(func: &Function, inst: Inst) -> Vec<Value> {
    let (mut inside, mut operands) = (Vec::new(), Vec::new());
    func.walk_inst(inst, &mut inside);
    inside.into_iter().for_each(|inst| func.insts[inst].for_each_operand(|v| operands.push(v)));
    operands
}
