//! Layout placement, stage 0 → 1: which thread's register holds which element.
//!
//! *Before:* tiles without layouts. *After:* every tile has one, equal layouts meet in every elementwise operation, and
//! memory is accessed by neighbouring lanes at neighbouring addresses, up to 16 bytes a thread at once.
//!
//! Today's operations connect tiles of one shape only, so the choice is one layout a shape: the coalesced one
//! ([`Layout::coalesced`]) with the widest vector that an access of that shape allows. An access allows as many elements as
//! its addresses are contiguous and aligned for, and 16 bytes hold ([`vector`]), but no more than leave every thread one. If
//! no access of a shape allows more than one element, neighbouring lanes take neighbouring elements and
//! a thread has several accesses in flight.

use crate::analysis::axis::{self, Axis};
use crate::entity::SideTable;
use crate::ir::types::{Elem, Shape};
use crate::ir::{Function, Stage, Value};
use crate::layout::Layout;
use crate::ops::Op;
use crate::record::Promise;
use std::collections::BTreeMap;

/// Bytes of the widest access of a thread.
const WIDEST: u64 = 16;

/// See the [module's page](self).
pub fn place(func: &mut Function, promise: Promise) {
    let facts = axis::analyse(func, promise);
    let mut vectors: BTreeMap<Shape, u64> = BTreeMap::new();
    for inst in func.walk() {
        if let Some((ptr, _)) = access(&func.insts[inst].op) {
            let best = vectors.entry(func.ty(ptr).shape).or_insert(1);
            *best = (*best).max(vector(func, &facts, ptr));
        }
    }
    func.stage = Stage::Laid;
    for value in func.defined() {
        let shape = func.ty(value).shape;
        if shape != Shape::SCALAR {
            let elements = shape.elements() as u32;
            // Idle threads would cost more than narrower accesses do.
            let share = (elements / (32 * func.num_warps)).max(1);
            let vector = vectors.get(&shape).map_or(1, |&v| share.min(v as u32));
            let layout = Layout::coalesced(elements, vector, func.num_warps);
            func.set_layout(value, layout);
        }
    }
}

/// Pointers and mask of an access to memory.
pub fn access(op: &Op) -> Option<(Value, Option<Value>)> {
    match *op {
        Op::Load { ptr, mask, .. } | Op::Store { ptr, mask, .. } => Some((ptr, mask)),
        Op::Const { .. }
        | Op::ProgramId { .. }
        | Op::NumPrograms { .. }
        | Op::Arange { .. }
        | Op::Splat { .. }
        | Op::Broadcast { .. }
        | Op::Cast { .. }
        | Op::Select { .. }
        | Op::Offset { .. }
        | Op::Unary { .. }
        | Op::Binary { .. }
        | Op::Compare { .. }
        | Op::Ternary { .. }
        | Op::Barrier {}
        | Op::For { .. }
        | Op::While {}
        | Op::If { .. }
        | Op::Yield {} => None,
    }
}

/// Elements that one access of a thread may cover. The mask does not count: where it does not agree on all of them, they
/// are accessed one by one.
pub fn vector(func: &Function, facts: &SideTable<Value, Axis>, ptr: Value) -> u64 {
    let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { return 1 };
    let bytes = u64::from(pointee.bytes());
    axis::access_width(facts[ptr], bytes).min(WIDEST / bytes)
}
