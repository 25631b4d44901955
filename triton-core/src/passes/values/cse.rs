//! Common subexpressions.
//!
//! *Before:* two pure operations with equal operands and arguments, or two reads with no write between them. *After:* the first; uses of
//! the second name it. What a region computes is known in that region only; reads are forgotten at its ends, since it may
//! write, and may run again. Requires stage 0; guarantees nothing about what became unused ([`crate::passes::values::dce`] removes it).

use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, Function, Value};
use crate::ops::{Effect, Op};

/// See the [module's page](self).
pub fn cse(func: &mut Function) {
    let mut same = SideTable::new(None);
    block(func, func.body, &WordMap::default(), &mut same);
}

/// An operation and its arguments: equal ones compute the same.
type Key = (Op, Vec<Value>);

fn block(func: &mut Function, id: Block, outer: &WordMap<Key, Value>, same: &mut SideTable<Value, Option<Value>>) {
    let mut known = outer.clone();
    let mut kept = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        let data = &mut func.insts[inst];
        data.map_operands(|v| same[v].unwrap_or(v));
        match data.op.effect() {
            Effect::Pure | Effect::Read => {
                // What an instruction with regions does is not in its operation alone.
                if let (&[result], []) = (&data.results[..], &data.regions[..]) {
                    let key = (data.op, data.args.clone());
                    if let Some(&first) = known.get(&key) {
                        same[result] = Some(first);
                        continue;
                    }
                    known.insert(key, result);
                }
            }
            Effect::Write | Effect::Control => {
                known.retain(|(op, _), _| op.effect() == Effect::Pure);
                for region in data.regions.clone() {
                    block(func, region, &known, same);
                }
            }
        }
        kept.push(inst);
    }
    func.blocks[id].insts = kept;
}
