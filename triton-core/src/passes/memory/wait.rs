//! Waits for products by `wgmma`, on demand: at stage 2, when nothing moves any more that they read.
//!
//! *Before:* each product is waited for at once, but for one that goes on over the back edge of its loop, for which `schedule` says where.
//! *After:* a wait is before the first instruction that takes the sum, or writes shared memory, fills a slot or
//! releases one. What is between runs beside the product, other products too.
//!
//! A wait stays in its block: all that an iteration begins is done at its end, but for sums that are carried. The
//! assembler asks for that, too: only products that nothing but products take may go on over a back edge.

use crate::ir::{Block, Function, Inst};
use crate::ops::{Effect, Op};
use crate::types::Shape;

/// See the [module's page](self).
pub fn wait(func: &mut Function) {
    for block in func.blocks.keys().collect::<Vec<_>>() {
        sink(func, block);
    }
}

/// Moves the waits of a block down, the last one first: a wait is never moved over another one.
fn sink(func: &mut Function, block: Block) {
    let is_wait = |func: &Function, inst: Inst| matches!(func.insts[inst].op, Op::DotWait { .. });
    let mut insts = std::mem::take(&mut func.blocks[block].insts);
    for at in (0..insts.len()).rev().filter(|&at| is_wait(func, insts[at])).collect::<Vec<_>>() {
        let ends = |&&inst: &&Inst| is_wait(func, inst) || needs(func, inst, insts[at]);
        let beside: Vec<Inst> = insts[at + 1..].iter().take_while(|inst| !ends(inst)).copied().collect();
        // Over scalars alone it would win nothing.
        let is_work = |&inst: &Inst| func.insts[inst].results.iter().any(|&v| func.ty(v).shape != Shape::SCALAR);
        let further = beside.iter().rposition(is_work).map_or(0, |last| last + 1);
        insts[at..=at + further].rotate_left(1);
    }
    func.blocks[block].insts = insts;
}

/// Whether an instruction, or one inside it, needs that a wait is before it.
fn needs(func: &Function, inst: Inst, wait: Inst) -> bool {
    let done = &func.insts[wait].results;
    let mut inside = Vec::new();
    func.walk_inst(inst, &mut inside);
    inside.into_iter().any(|inst| {
        let data = &func.insts[inst];
        let mut takes = false;
        data.for_each_operand(|v| takes |= done.contains(&v));
        takes || data.op.effect() != Effect::Pure && !reads(&data.op)
    })
}

/// Whether an operation with an effect is one that a product in flight may be beside.
fn reads(op: &Op) -> bool {
    matches!(op, Op::Load { .. } | Op::SharedLoad { .. } | Op::SharedSlice { .. } | Op::RingSlot { .. })
}
