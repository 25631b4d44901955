//! Accesses that a loop steps from row to row: to a view, at the loop's counter along an axis but the last, and elsewhere at what the
//! loop does not change. The address of a thread's first element then grows by the same number of bytes in every turn, and no index is
//! multiplied by a stride. Along the last axis, whose stride is mostly 1, an address of its own would take registers and save nothing.

use crate::ir::{Block, Function, LayoutId, Value};
use crate::ops::{Location, Memory};

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
    let (mut order, mut all) = (Vec::new(), Vec::new());
    func.blocks[region].insts.iter().for_each(|&inst| func.walk_inst(inst, &mut order));
    for inst in order {
        let data = &func.insts[inst];
        let Some(Memory::Global(at @ Location::View { at: starts, .. })) = data.op.access().map(|a| a.memory) else {
            continue;
        };
        let is_stepped = |v: Value| v == counter || !inside[v];
        let starts = starts.as_slice();
        let layout = data.accessed_tile().and_then(|tile| func.layout_id(tile));
        let rows = starts.iter().rev().skip(1).any(|&v| v == counter);
        let Some(layout) = layout.filter(|_| rows && starts.iter().all(|&v| is_stepped(v))) else { continue };
        if !all.contains(&Stepped { at, layout }) {
            all.push(Stepped { at, layout });
        }
    }
    all
}
