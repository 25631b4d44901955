//! Layout assignment, stage 0 → 1: which thread's register holds which element.
//!
//! *Before:* tiles without layouts. *After:* every tile has one; equal layouts meet in every elementwise operation; where a
//! value is needed in another layout, there is a `convert`; the order of reductions, and the
//! instructions of products, are explicit.
//!
//! # One labelling
//! Each operation that makes or uses data is a variable (`graph`); its label is the layout it works in, from which those
//! that it needs its operands in and yields its result in follow. Layout assignment is the choice of labels of minimal
//! cost:
//!
//! > Σ over variables of *how often · what it costs to run so* + Σ over uses of *how often · what the conversion costs*
//!
//! where a conversion runs as often as the rarer of definition and use, since it is at the outermost point that is run
//! so rarely; what was widened by a cast may be converted before the cast, and cast again. Every goal of layout
//! assignment is a term of this sum: wide and coalesced accesses (`cost`), rows that stay in a warp, products whose
//! sums do not move, conversions after a narrowing cast. Nothing is repaired afterwards.
//!
//! Labels worth considering are found first (`candidates`); the sum is then a partitioned Boolean quadratic problem, solved
//! by [`crate::passes::layouts::pbqp`], exactly in all kernels that we know. Variables with one candidate take no part. ("Register
//! allocation for irregular architectures", Scholz and Eckstein, LCTES 2002, solve the same problem for registers.) At last
//! the choice is materialised (`emit`). The result only depends on the function, the target and the specialization.

mod candidates;
mod cost;
mod emit;
mod explain;
mod graph;
mod labelling;
mod products;

use crate::analysis::axis::{self, AxisInfo};
use crate::entity::SideTable;
use crate::ir::{Function, Inst, InstData, Layouts, Value};
use crate::layout::Layout;
use crate::metadata::{Arg, TargetInfo};
use crate::ops::{Access, AccessEffect, BitOrder, Location, Memory};
use crate::passes::Env;
use crate::types::Shape;
use graph::Graph;
use labelling::Assignment;
pub use labelling::Labelling;

/// See the [module's page](self).
///
/// # Errors
/// A reduction that no layout allows: a bug in this pass.
pub fn place(func: &mut Function, env: &Env) -> Result<(), String> {
    let layouts = std::mem::take(&mut func.layouts);
    let assignment = decide(func, env, layouts)?;
    emit::emit(func, env, assignment).map(|_| ())
}

/// What [`place`] chooses for a function, line by line: the cost of each operation over all executions and its layouts,
/// and each conversion with its plan.
///
/// # Errors
/// As [`place`].
///
/// Loops run as often as the arguments of a launch say, if there are any and they say it; else as often as is assumed.
pub fn explain(func: &Function, env: &Env, args: Option<&[Arg]>) -> Result<String, String> {
    let mut placed = func.clone();
    let written = emit::emit(&mut placed, env, decide(func, env, Layouts::default())?)?;
    Ok(explain::explain(&placed, env, &written, args))
}

fn decide(func: &Function, env: &Env, layouts: Layouts) -> Result<Assignment, String> {
    let mut labelling = Labelling::with(func, env, layouts)?;
    let least = labelling.least()?;
    Ok(labelling.choose(&least))
}

/// The order in which a reduction in a layout combines the bits of an index: first those within a thread, then those
/// between lanes, then those between warps. `None` if a bit of the hardware stands for more than one bit of the index,
/// or for another axis as well.
fn fold_order(layout: &Layout, shape: Shape, axis: usize) -> Option<BitOrder> {
    let base = shape.base();
    let inner: u32 = base.dims()[axis + 1..].iter().product();
    let extent = base.dims()[axis];
    let field = (extent - 1) * inner;
    let mut bits = Vec::new();
    for column in layout.columns().filter(|c| c & field != 0) {
        if !column.is_power_of_two() {
            return None;
        }
        bits.push((column / inner).trailing_zeros() as u8);
    }
    BitOrder::new(&bits).filter(|_| bits.len() as u32 == extent.trailing_zeros())
}

/// Where an operation accesses global memory, and the elements that one of its instructions may cover.
fn accessed(
    func: &Function,
    graph: &Graph,
    facts: &SideTable<Value, AxisInfo>,
    target: &TargetInfo,
    inst: Inst,
) -> Option<(Location, u64)> {
    let InstData { op, results, .. } = &func.insts[inst];
    let Access { memory: Memory::Global(at), effect, .. } = op.access()? else { return None };
    let widest = match effect {
        AccessEffect::Read | AccessEffect::Write => axis::vector_width(func, facts, at),
        AccessEffect::Update => {
            let is_used = results.iter().any(|&result| graph.is_used(result));
            axis::update_width(func, facts, target, (op, is_used))
        }
    };
    Some((at, widest))
}
