//! Sums that products add to in place.

use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops;

/// Sums that a product may add to in their own registers: what a loop carries and nothing else in it reads, and results of
/// such a product.
pub(super) fn accumulators(func: &Function) -> SideTable<Value, bool> {
    let (mut uses, mut in_place) = (SideTable::new(0), SideTable::new(false));
    let order = func.walk();
    for &inst in &order {
        func.insts[inst].for_each_operand(|v| uses[v] += 1);
    }
    let regions = order.iter().flat_map(|&inst| func.insts[inst].regions.iter().copied());
    for region in regions {
        let mut own: Vec<Value> = func.blocks[region].params.clone();
        for (_, data) in func.block(region) {
            let ops::Op::Dot { a, b, acc, .. } = data.op else { continue };
            in_place[acc] = own.contains(&acc) && uses[acc] == 1 && a != acc && b != acc;
            own.extend(&data.results);
        }
    }
    in_place
}
