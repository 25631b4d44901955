//! The rules of rings: what the text says of them, whatever the order in which the program does it, which the interpreter knows.

use crate::ir::{Block, Fill, Function, InstData, Place, Ring, RingId, Value};
use crate::layout::access;
use crate::ops::{Agent, Effect, Location, Op, RingStep};
use crate::types::{DType, Elem};

/// Every ring has room for what is in flight beside what is read, and buffers that are filled by whole elements. One that threads store to has
/// nothing of copies.
pub(super) fn check_ring(func: &Function, id: RingId) -> Result<(), String> {
    let Ring { slots, fill, ref buffers } = func.rings[id];
    let bulk = fill.is_bulk();
    // Items of all rings are in flight together.
    let room: u32 = func.rings.keys().map(|ring| func.rings[ring].slots).sum();
    let fits = if let Fill::CpAsync { lead } = fill { (1..=room).contains(&lead) } else { true };
    if buffers.is_empty() || slots == 0 || !fits {
        return Err(format!("{id} has {slots} slots of {} buffers, and no room for what is in flight", buffers.len()));
    }
    if func.is_stored(id) && (bulk || buffers.iter().any(|of| of.tf32 || of.padding != 0)) {
        return Err(format!("{id} is stored by threads, and says how copies fill it"));
    }
    let together = buffers.iter().any(|of| of.shared);
    if together && !(bulk && func.peers > 1) {
        return Err(format!("{id} is filled by blocks of a cluster that do not share it"));
    }
    for of in buffers {
        if of.tf32 && !(bulk && func.ty(of.buffer).elem == Elem::Num(DType::F32)) {
            return Err(format!("no copy rounds what it fills {} with to tf32", of.buffer));
        }
        if of.padding != 0 && bulk {
            return Err(format!("bulk copies fill {} with 0 where it is out of bounds", of.buffer));
        }
        let defined = |inst: &&crate::ir::Inst| func.insts[**inst].results.first() == Some(&of.buffer);
        let inst = func.walk().iter().find(defined).map(|&inst| func.insts[inst].op);
        let Some((Op::SharedAlloc { .. }, mem)) = inst.zip(func.mem(of.buffer)) else {
            return Err(format!("{}, a buffer of {id}, is not allocated", of.buffer));
        };
        let layout = &func.layouts[of.layout];
        let fills = func.is_stored(id) || access::copies(layout, mem, 1).is_some();
        if layout.warp.len() as u32 != func.num_warps.trailing_zeros() || !fills {
            return Err(format!("threads cannot fill {}, a buffer of {id}, in the layout {layout}", of.buffer));
        }
        if func.rings.keys().filter_map(|ring| func.rings[ring].buffers.iter().find(|b| b.buffer == of.buffer)).count()
            > 1
        {
            return Err(format!("{} is a buffer of two rings", of.buffer));
        }
    }
    Ok(())
}

/// An operation on a ring names one, and its operands are what the ring has.
pub(super) fn check(func: &Function, data: &InstData) -> Result<(), String> {
    let Some(of) = data.op.ring() else { return Ok(()) };
    if let Some(ring) = of.step.ring() {
        func.rings.get(ring).ok_or_else(|| format!("there is no ring {ring}"))?;
    }
    let of_ring = |buffer: Value| func.ring_of(buffer).ok_or_else(|| format!("{buffer} belongs to no ring"));
    of.step.buffer().map(of_ring).transpose()?;
    if let RingStep::Wait(ring, _) = of.step
        && func.is_stored(ring)
    {
        return Err(format!("{ring} is stored by threads, which wait at barriers"));
    }
    if let Op::RingFill { buffer, from, .. } = data.op {
        let (ring, _) = of_ring(buffer)?;
        if func.is_stored(ring) {
            return Err(format!("{buffer} is filled, but threads store to {ring}"));
        }
        if let Location::Pointers { ptr, mask } = from
            && [Some(ptr), mask].into_iter().flatten().any(|v| func.layout_id(v) != func.fill_layout(buffer))
        {
            return Err(format!("{buffer} is filled through pointers, or under a mask, of another layout"));
        }
    }
    let by_bulk_copies = match of.agent {
        Agent::Threads => false,
        Agent::AsyncProxy => true,
        Agent::OfRing(buffer) => func.is_bulk(buffer),
    };
    if let Some(buffer) = of.step.buffer().filter(|_| by_bulk_copies && func.bulk_map(of).is_none()) {
        return Err(format!("no bulk copy {} {buffer}", of.step.verb()));
    }
    if let RingStep::Slot(buffer, _) = of.step
        && func.mem_id(buffer).map(Place::Shared) != data.results.first().and_then(|&slot| func.place_of[slot])
    {
        return Err(format!("a slot of {buffer} in another layout of memory"));
    }
    Ok(())
}

/// The buffers of a ring are filled in order, for one item under one condition; the last one's fill ends the item.
pub(super) fn check_fills(func: &Function, block: Block) -> Result<(), String> {
    let mut open = None;
    for (_, data) in func.block(block) {
        let next = if let Op::RingFill { buffer, item, when, .. } = data.op {
            func.ring_of(buffer).map(|ring| (ring, item, when))
        } else if data.op.effect() == Effect::Pure || matches!(data.op, Op::Sync { .. }) {
            continue;
        } else {
            None
        };
        match (open, next) {
            (None, None) => {}
            (None, Some(((_, 0), ..))) => open = next,
            (Some(((ring, at), item, when)), Some(((next, number), i, w)))
                if (ring, at + 1, item, when) == (next, number, i, w) =>
            {
                open = Some(((ring, number), item, when));
            }
            (Some(((ring, _), ..)), _) | (None, Some(((ring, _), ..))) => {
                return Err(format!("an item of {ring} whose buffers are not filled one after the other"));
            }
        }
        open = open.filter(|&((ring, at), ..)| at + 1 < func.rings[ring].buffers.len());
    }
    match open {
        Some(((ring, _), ..)) => Err(format!("an item of {ring} that is not filled to its last buffer")),
        None => Ok(()),
    }
}
