//! Loop-invariant code motion.
//!
//! *Before:* a pure operation in a loop whose operands come from outside. *After:* it is hoisted before the loop. An
//! integer division whose divisor may be zero stays: if the loop runs zero times, nothing may fail. Requires stage 0.

use crate::analysis::defs::Defs;
use crate::ir::{Block, Function, Inst};
use crate::ops::{Effect, Op};

/// See the [module's page](self).
pub fn licm(func: &mut Function) {
    let defs = Defs::of(func);
    block(func, func.body, &defs);
}

fn block(func: &mut Function, id: Block, defs: &Defs) {
    let mut insts = Vec::new();
    for inst in func.blocks[id].insts.clone() {
        for region in func.insts[inst].regions.clone() {
            // Innermost loops first: what leaves one can leave the next.
            block(func, region, defs);
        }
        if matches!(func.insts[inst].op, Op::For { .. } | Op::While {}) {
            hoist(func, inst, defs, &mut insts);
        }
        insts.push(inst);
    }
    func.blocks[id].insts = insts;
}

fn hoist(func: &mut Function, owner: Inst, defs: &Defs, before: &mut Vec<Inst>) {
    let regions = func.insts[owner].regions.clone();
    let mut inside = func.defined_in(&regions);
    for region in regions {
        let mut kept = Vec::new();
        for inst in func.blocks[region].insts.clone() {
            let data = &func.insts[inst];
            let mut invariant = data.op.effect() == Effect::Pure && data.op.cannot_fail(|v| defs.constant(func, v));
            data.for_each_operand(|v| invariant &= !inside[v]);
            if invariant {
                data.results.iter().for_each(|&v| inside[v] = false);
                before.push(inst);
            } else {
                kept.push(inst);
            }
        }
        func.blocks[region].insts = kept;
    }
}
