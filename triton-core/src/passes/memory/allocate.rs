//! Allocation of shared memory, at stage 2, once barriers are written.
//!
//! *Before:* every buffer is in memory of its own. *After:* each has an offset, at the alignment of its layout. Two buffers share bytes
//! only where a barrier of the program stands between the last access to one and the first to the other, so that no barrier is needed
//! because of the memory: a buffer is live from its definition to the first barrier that every thread meets after its last use. Without
//! one before the end of a loop's body it is live in the whole loop, as the next iteration comes first. A buffer that receives messages of
//! other blocks is live from the start.
//!
//! That takes more memory than buffers that end with their last use. So two barriers are written here: one after a loop of the kernel's
//! own block whose large buffers are followed by others, since it runs once; and, where the memory is more than a block has, one after
//! each large buffer.

use crate::analysis::liveness::{self, LiveInterval, Liveness};
use crate::analysis::storage::{self, Buffer};
use crate::ir::{Block, Function, Inst, Value};
use crate::layout::access;
use crate::ops::{Control, Op, RingStep, Scope};
use crate::passes::Env;
use std::ops::Range;

/// Bytes of a buffer that is not worth a barrier.
const SMALL_BYTES: u64 = 1024;

/// See the [module's page](self). Returns the bytes of all buffers.
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn allocate(func: &mut Function, env: &Env) -> Result<u64, String> {
    end_loops(func)?;
    let bytes = assign_offsets(func);
    if bytes <= env.target.shared_bytes().into() {
        return Ok(bytes);
    }
    end_large_buffers(func)?;
    Ok(assign_offsets(func))
}

/// Allocates every buffer, and returns the bytes of all.
fn assign_offsets(func: &mut Function) -> u64 {
    let liveness = liveness::analyse(func, &func.buffer_of());
    let buffers = func.buffers();
    let mailboxes = func.mailboxes();
    let of = |&(_, buffer): &(Inst, Value)| {
        let (bytes, align) =
            (func.buffer_bytes(buffer), func.mem(buffer).map_or(1, |mem| mem.align().max(access::WIDEST.into())));
        let mut live = live(func, &liveness, liveness.intervals[buffer]);
        // Another block may be ahead, and send what this one waits for later; so may a producer, and fill it.
        if mailboxes.contains(&buffer) || func.producer.is_some() && func.is_bulk(buffer) {
            live.start = 0;
        }
        Buffer { bytes, align, live, role: None }
    };
    let allocation = storage::allocate(&buffers.iter().map(of).collect::<Vec<_>>());
    for ((inst, _), offset) in buffers.into_iter().zip(allocation.offsets) {
        if let Op::SharedAlloc { at, .. } = &mut func.insts[inst].op {
            *at = Some(offset as u32);
        }
    }
    let mbarriers = func.all_mbarrier_bytes();
    if mbarriers == 0 { allocation.total } else { allocation.total.next_multiple_of(8) + mbarriers }
}

fn is_large(func: &Function, buffer: Value) -> bool {
    func.buffer_bytes(buffer) > SMALL_BYTES
}

fn is_loop(op: &Op) -> bool {
    op.control().is_some_and(Control::repeats)
}

/// From where to where a buffer has its bytes.
fn live(func: &Function, liveness: &Liveness, interval: LiveInterval) -> Range<u32> {
    let mut live = interval.start..liveness.last + 1;
    // Blocks from the kernel's own to the one that defines the buffer, each with the instruction around the next one.
    let mut block = func.body;
    let mut path = Vec::new();
    while let Some((inst, region)) = around(func, liveness, block, interval.start) {
        path.push((block, inst));
        block = region;
    }
    if let Some(end) = barrier_after(func, liveness, block, interval.last) {
        live.end = end;
        return live;
    }
    for (block, inst) in path.into_iter().rev() {
        let (first, last) = liveness.numbers[inst];
        if is_loop(&func.insts[inst].op) {
            live.start = first;
        }
        if let Some(end) = barrier_after(func, liveness, block, last) {
            live.end = end;
            return live;
        }
    }
    live
}

/// The instruction of a block that has this number inside, and the region that has it.
fn around(func: &Function, liveness: &Liveness, block: Block, number: u32) -> Option<(Inst, Block)> {
    let inside = |inst: &&Inst| (liveness.numbers[**inst].0 + 1..=liveness.numbers[**inst].1).contains(&number);
    let inst = *func.blocks[block].insts.iter().find(inside)?;
    let has = |region: &&Block| func.blocks[**region].insts.iter().any(|&i| liveness.numbers[i].1 >= number);
    func.insts[inst].regions.iter().find(has).map(|&region| (inst, region))
}

/// The number of the first barrier of the program in a block after a number.
fn barrier_after(func: &Function, liveness: &Liveness, block: Block, number: u32) -> Option<u32> {
    let all = |scope: Scope| scope == Scope::Block || func.num_warps == 1;
    let barrier = |&&inst: &&Inst| {
        liveness.numbers[inst].0 > number && matches!(func.insts[inst].op, Op::Sync { scope } if all(scope))
    };
    func.blocks[block].insts.iter().find(barrier).map(|&inst| liveness.numbers[inst].0)
}

/// A barrier after a loop with large buffers, where large buffers follow before the next barrier.
fn end_loops(func: &mut Function) -> Result<(), String> {
    let has_large = |inst: Inst| {
        let mut inside = Vec::new();
        func.walk_inst(inst, &mut inside);
        // A ring is defined before its loop.
        let buffer = |&i: &Inst| {
            let data = &func.insts[i];
            if let Some(RingStep::Slot(buffer, _)) = data.op.ring_step() { Some(buffer) } else { None }
                .or_else(|| data.results.first().copied().filter(|_| matches!(data.op, Op::SharedAlloc { .. })))
        };
        inside.iter().filter_map(buffer).any(|buffer| is_large(func, buffer))
    };
    let (mut ended, mut barriers) = (None, Vec::new());
    for (position, &inst) in func.blocks[func.body].insts.iter().enumerate() {
        let op = &func.insts[inst].op;
        if *op == (Op::Sync { scope: Scope::Block }) {
            ended = None;
            continue;
        }
        // The products of a loop that are in flight after it.
        if matches!(op, Op::DotWait { .. } | Op::RingRelease { .. }) {
            ended = ended.map(|_| position + 1);
            continue;
        }
        let large = has_large(inst);
        barriers.extend(ended.take_if(|_| large));
        ended = ended.or(Some(position + 1).filter(|_| large && is_loop(op)));
    }
    for position in barriers.into_iter().rev() {
        let span = func.insts[func.blocks[func.body].insts[position - 1]].span;
        let barrier = func.make(Op::Sync { scope: Scope::Block }, span)?;
        func.blocks[func.body].insts.insert(position, barrier);
    }
    Ok(())
}

/// A barrier after the last use of each buffer that is worth one.
fn end_large_buffers(func: &mut Function) -> Result<(), String> {
    for (_, buffer) in func.buffers() {
        if !is_large(func, buffer) {
            continue;
        }
        let liveness = liveness::analyse(func, &func.buffer_of());
        let last = liveness.intervals[buffer].last;
        let mut block = func.body;
        while let Some((_, region)) = around(func, &liveness, block, liveness.intervals[buffer].start) {
            block = region;
        }
        let position = func.blocks[block].insts.iter().position(|&inst| liveness.numbers[inst].1 >= last);
        let Some(position) = position else { continue };
        let span = func.insts[func.blocks[block].insts[position]].span;
        let barrier = func.make(Op::Sync { scope: Scope::Block }, span)?;
        func.blocks[block].insts.insert(position + 1, barrier);
    }
    Ok(())
}
