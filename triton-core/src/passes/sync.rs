//! Barriers between accesses to global memory, at stage 1.
//!
//! *Before:* accesses in the order of the program, each by whichever threads the layout says. *After:* a `barrier` stands
//! between two accesses of which one writes, which may touch the same bytes, and which different threads may make; so a
//! program sees its own writes, as the interpreter does.
//!
//! Two accesses cannot meet if their pointers come from different parameters: memory behind a `PtrMut` is not reachable
//! through another argument (borrows see to it for buffers, the launch's contract for raw addresses). They are made by the
//! same thread if they go through the very same pointers and no two threads hold an element.
//!
//! The walk is the forward data-flow over read-after-write and write-after-read of Tillet 2020, §5.3.2, on straight-line
//! code: the accesses since the last barrier are the state.

use super::place::access;
use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops::{Effect, Op};

/// An access since the last barrier.
struct Pending {
    root: Option<Value>,
    ptr: Value,
    writes: bool,
}

/// See the [module's page](self).
pub fn sync(func: &mut Function) -> Result<(), String> {
    let roots = roots(func);
    let mut pending: Vec<Pending> = Vec::new();
    let mut body = Vec::new();
    for inst in func.blocks[func.body].clone() {
        if let Some((ptr, _)) = access(&func.insts[inst].op) {
            let new = Pending { root: roots[ptr], ptr, writes: func.insts[inst].op.effect() == Effect::Write };
            if pending.iter().any(|old| conflict(func, old, &new)) {
                let span = func.insts[inst].span;
                body.push(func.make(Op::Barrier {}, span)?);
                pending.clear();
            }
            pending.push(new);
        }
        body.push(inst);
    }
    let block = func.body;
    func.blocks[block] = body;
    Ok(())
}

fn conflict(func: &Function, a: &Pending, b: &Pending) -> bool {
    let may_meet = a.root.is_none() || b.root.is_none() || a.root == b.root;
    let replicated = func.layout(a.ptr).is_none_or(|layout| layout.replicated() != (0, 0));
    let same_thread = a.ptr == b.ptr && !replicated;
    (a.writes || b.writes) && may_meet && !same_thread
}

/// The parameter that a pointer was made from; `None` for numbers, and for pointers that may come from several.
fn roots(func: &Function) -> SideTable<Value, Option<Value>> {
    let mut roots = SideTable::new(None);
    for param in &func.params {
        roots[param.value] = Some(param.value);
    }
    for (_, inst) in func.body() {
        let root = match inst.op {
            Op::Offset { ptr, .. } => roots[ptr],
            Op::Splat { x, .. } | Op::Broadcast { x, .. } => roots[x],
            Op::Const { .. }
            | Op::ProgramId { .. }
            | Op::NumPrograms { .. }
            | Op::Arange { .. }
            | Op::Cast { .. }
            | Op::Select { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Barrier {}
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. } => None,
        };
        if let Some(&result) = inst.results.first() {
            roots[result] = root;
        }
    }
    roots
}
