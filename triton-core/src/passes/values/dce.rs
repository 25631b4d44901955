//! Dead code.
//!
//! *Before:* an operation without a write whose result is unused. *After:* nothing. What remains is what writes, and
//! the conditions of control flow around them, depend on. A `while` stays, as it may not end. (A load out of bounds, or
//! a division by zero, whose result is not used goes with it.)

use crate::entity::SideTable;
use crate::ir::{Block, Function, Value};
use crate::ops::{Control, Effect, Op};

/// See the [module's page](self).
pub fn dce(func: &mut Function) {
    let mut needed = SideTable::new(false);
    block(func, func.body, &mut needed);
}

/// Walks backwards. A loop-carried value is needed if its result is, or if anything in the loop needs it; all are kept
/// as soon as the loop is.
fn block(func: &mut Function, id: Block, needed: &mut SideTable<Value, bool>) {
    let mut kept = Vec::new();
    for &inst in func.blocks[id].insts.clone().iter().rev() {
        let data = &func.insts[inst];
        let used = data.results.iter().any(|&v| needed[v]);
        let keep = match data.op.effect() {
            Effect::Write => true,
            Effect::Pure | Effect::Read => used,
            Effect::Control => {
                let acts = |op: &Op| op.effect() == Effect::Write || op.control().is_some_and(Control::may_wait);
                let inside = data.regions.iter().any(|&region| func.contains(region, acts));
                used || inside || acts(&data.op) || data.op.control() == Some(Control::Yield)
            }
        };
        if keep {
            data.for_each_operand(|v| needed[v] = true);
            for region in data.regions.clone() {
                block(func, region, needed);
            }
            kept.push(inst);
        }
    }
    kept.reverse();
    func.blocks[id].insts = kept;
}
