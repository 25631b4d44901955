//! Sinking of widening casts.
//!
//! *Before:* a tile is cast to a wider type where it was loaded. *After:* just before its first use in the block, so that the narrow
//! tile is live until then, and loads stand before what waits for their data. Requires stage 0.

use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Value};
use crate::ops::Op;
use crate::types::Shape;

/// See the [module's page](self).
pub fn sink(func: &mut Function) {
    block(func, func.body);
}

fn block(func: &mut Function, id: Block) {
    let mut insts = Vec::with_capacity(func.blocks[id].insts.len());
    // The casts that are not used yet.
    let mut waiting: SideTable<Value, Option<Inst>> = SideTable::new(None);
    for inst in func.blocks[id].insts.clone() {
        for region in func.insts[inst].regions.clone() {
            block(func, region);
        }
        if let (true, &[result]) = (widens(func, inst), &func.insts[inst].results[..]) {
            waiting[result] = Some(inst);
            continue;
        }
        used(func, inst, &mut waiting, &mut insts);
        insts.push(inst);
    }
    func.blocks[id].insts = insts;
}

/// Places the casts whose results an instruction uses, or one inside it, and those that they use.
fn used(func: &Function, inst: Inst, waiting: &mut SideTable<Value, Option<Inst>>, insts: &mut Vec<Inst>) {
    let mut operands = Vec::new();
    func.insts[inst].for_each_operand(|v| operands.push(v));
    for value in operands {
        if let Some(cast) = waiting[value].take() {
            used(func, cast, waiting, insts);
            insts.push(cast);
        }
    }
    for &region in &func.insts[inst].regions {
        func.blocks[region].insts.iter().for_each(|&inner| used(func, inner, waiting, insts));
    }
}

/// Whether an instruction casts a tile to a wider type.
fn widens(func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let Op::Cast { x, .. } = data.op else { return false };
    let bits = |v: Value| func.ty(v).elem.bits();
    func.ty(x).shape != Shape::SCALAR && data.results.iter().all(|&result| bits(result) > bits(x))
}
