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
//! The walk is the forward data-flow over read-after-write and write-after-read of Tillet 2020, §5.3.2: the accesses since
//! the last barrier are the state. A loop is walked twice, the second time from the state at its end, which is all that a
//! further turn can add; branches are joined. Conditions are scalars, which all threads hold alike, so that all of them
//! meet at a barrier in a branch.

use super::place::access;
use crate::entity::SideTable;
use crate::ir::{Block, Function, Value};
use crate::ops::{Effect, Op};

/// An access since the last barrier.
#[derive(Clone, PartialEq)]
struct Pending {
    root: Option<Value>,
    ptr: Value,
    writes: bool,
}

/// See the [module's page](self).
pub fn sync(func: &mut Function) -> Result<(), String> {
    let roots = roots(func);
    block(func, func.body, &roots, Vec::new()).map(|_| ())
}

/// Inserts the barriers of a block, and returns what is pending at its end.
fn block(
    func: &mut Function,
    id: Block,
    roots: &SideTable<Value, Option<Value>>,
    mut pending: Vec<Pending>,
) -> Result<Vec<Pending>, String> {
    let mut insts = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        let op = func.insts[inst].op;
        if op == (Op::Barrier {}) {
            pending.clear();
        }
        if let Some((ptr, _)) = access(&op) {
            let new = Pending { root: roots[ptr], ptr, writes: op.effect() == Effect::Write };
            if pending.iter().any(|old| conflict(func, old, &new)) {
                let span = func.insts[inst].span;
                insts.push(func.make(Op::Barrier {}, span)?);
                pending.clear();
            }
            join(&mut pending, vec![new]);
        }
        let regions = func.insts[inst].regions.clone();
        if matches!(op, Op::If { .. }) {
            let mut after = Vec::new();
            for region in regions {
                join(&mut after, block(func, region, roots, pending.clone())?);
            }
            pending = after;
        } else {
            for _ in 0..2 {
                // Not running at all leaves what was pending.
                let mut turn = pending.clone();
                for &region in &regions {
                    turn = block(func, region, roots, turn)?;
                }
                join(&mut pending, turn);
            }
        }
        insts.push(inst);
    }
    func.blocks[id].insts = insts;
    Ok(pending)
}

fn join(into: &mut Vec<Pending>, from: Vec<Pending>) {
    for access in from {
        if !into.contains(&access) {
            into.push(access);
        }
    }
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
    for inst in func.walk() {
        let data = &func.insts[inst];
        // What is carried may change its root from turn to turn.
        let root = if let Op::Offset { ptr: x, .. }
        | Op::Splat { x, .. }
        | Op::Broadcast { x, .. }
        | Op::Reshape { x, .. }
        | Op::Permute { x, .. }
        | Op::Convert { x } = data.op
        {
            roots[x]
        } else {
            None
        };
        data.results.iter().for_each(|&result| roots[result] = root);
    }
    roots
}
