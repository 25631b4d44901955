//! Accesses that a loop steps from row to row: to a view, at the loop's counter along an axis but the last, or at the
//! sum of it and of what the loop does not change, and elsewhere at that alone. The address of a thread's first element
//! then grows by the same number of bytes in every turn, and no index is multiplied by a stride. Along the last axis,
//! whose stride is mostly 1, an address of its own would take registers and save nothing, unless the tile is copied to
//! shared memory, which takes no other registers.

use crate::entity::SideTable;
use crate::ir::{Block, Function, LayoutId, Value};
use crate::ops::kinds::BinaryKind;
use crate::ops::{Location, Memory, Op};

/// A tile of a view that a loop steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stepped {
    /// Where it is.
    pub at: Location,
    /// Which threads access which elements.
    pub layout: LayoutId,
}

/// The tiles that a loop over a region steps, each once; its first parameter is the counter.
pub fn stepped(func: &Function, region: Block) -> Vec<Stepped> {
    let Some(&counter) = func.blocks[region].params.first() else { return Vec::new() };
    let inside = func.defined_in(&[region]);
    let ahead = ahead(func, region);
    let (mut order, mut all) = (Vec::new(), Vec::new());
    func.blocks[region].insts.iter().for_each(|&inst| func.walk_inst(inst, &mut order));
    for inst in order {
        let data = &func.insts[inst];
        let Some(Memory::Global(at @ Location::View { at: starts, .. })) = data.op.access().map(|a| a.memory) else {
            continue;
        };
        let is_stepped = |v: Value| v == counter || !inside[v] || ahead[v].is_some();
        let starts = starts.as_slice();
        let layout = func.access_layout(data);
        // What is copied has no registers but those of its address.
        let last = usize::from(!matches!(data.op, Op::RingFill { .. }));
        let rows = starts.iter().rev().skip(last).any(|&v| v == counter || ahead[v].is_some());
        let Some(layout) = layout.filter(|_| rows && starts.iter().all(|&v| is_stepped(v))) else { continue };
        if !all.contains(&Stepped { at, layout }) {
            all.push(Stepped { at, layout });
        }
    }
    all
}

/// The sums of a loop's counter and of a value that the loop does not change: that value.
pub fn ahead(func: &Function, region: Block) -> SideTable<Value, Option<Value>> {
    let mut ahead = SideTable::new(None);
    let Some(&counter) = func.blocks[region].params.first() else { return ahead };
    let inside = func.defined_in(&[region]);
    for (_, data) in func.block(region) {
        if let Op::Binary { kind: BinaryKind::Add, a, b } = data.op
            && a == counter
            && !inside[b]
        {
            ahead[data.results[0]] = Some(b);
        }
    }
    ahead
}
