//! Dead code.
//!
//! *Before:* an operation without a write whose result nothing needs. *After:* nothing. What remains is what writes depend
//! on. (A load out of bounds, or a division by zero, whose result is not used goes with it.)

use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops::Effect;

/// See the [module's page](self).
pub fn dce(func: &mut Function) {
    let mut needed: SideTable<Value, bool> = SideTable::new(false);
    let mut kept = Vec::new();
    for &inst in func.blocks[func.body].iter().rev() {
        let data = &func.insts[inst];
        if data.op.effect() == Effect::Write || data.results.iter().any(|&v| needed[v]) {
            data.op.for_each_operand(|v| needed[v] = true);
            kept.push(inst);
        }
    }
    kept.reverse();
    let body = func.body;
    func.blocks[body] = kept;
}
