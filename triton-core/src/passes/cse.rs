//! Common subexpressions.
//!
//! *Before:* two pure operations with equal operands, or two reads with no write between them. *After:* the first; uses of
//! the second name it. Requires stage 0; guarantees nothing about what became unused ([`super::dce`] drops it).

use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops::{Effect, Op};
use std::collections::HashMap;

/// See the [module's page](self).
pub fn cse(func: &mut Function) {
    let mut same: SideTable<Value, Option<Value>> = SideTable::new(None);
    let mut known: HashMap<Op, Value> = HashMap::new();
    let mut kept = Vec::new();
    for inst in func.blocks[func.body].clone() {
        let data = &mut func.insts[inst];
        data.op.map_operands(|v| same[v].unwrap_or(v));
        if data.op.effect() == Effect::Write {
            known.retain(|op, _| op.effect() == Effect::Pure);
        } else if let Some(&result) = data.results.first() {
            if let Some(&first) = known.get(&data.op) {
                same[result] = Some(first);
                continue;
            }
            known.insert(data.op, result);
        }
        kept.push(inst);
    }
    let body = func.body;
    func.blocks[body] = kept;
}
