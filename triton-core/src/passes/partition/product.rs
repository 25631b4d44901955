//! A product in a loop that can be divided along K.

use super::axes::Axes;
use crate::analysis::defs::Defs;
use crate::ir::{Function, Inst, InstData, Value};
use crate::ops::{Effect, Op};
use crate::types::DType;

/// The most blocks. Each sends its sums to all others.
const MOST: u32 = 8;
/// Columns of a sum that a block is left with at least.
const COLUMNS: u32 = 8;

/// A loop that adds products up: `for .. { acc = dot(a, b, acc) }`.
pub(super) struct Product {
    /// The loop.
    pub around: Inst,
    /// What it yields.
    pub sum: Value,
    /// K, of the values in the loop.
    pub depth: Axes,
    /// The axis of the sum that is divided after the loop, of what is computed from it.
    pub columns: Axes,
}

impl Product {
    /// That of a function at stage 0, if it has one loop, which does nothing else.
    pub fn of(func: &Function) -> Option<Product> {
        let mut loops = func.block(func.body).filter(|(_, data)| matches!(data.op, Op::For { .. } | Op::While {}));
        let (around, data) = loops.next().filter(|(_, data)| matches!(data.op, Op::For { .. }))?;
        let (&[region], &[sum], &[init]) = (&data.regions[..], &data.results[..], &data.args[..]) else { return None };
        let defs = Defs::of(func);
        if loops.next().is_some() || !is_zero(func, &defs, init) {
            return None;
        }
        let mut dots = Vec::new();
        for (_, data) in func.block(region) {
            let load = matches!(data.op, Op::Load { .. } | Op::Yield {});
            if !load && data.op.effect() != Effect::Pure {
                return None;
            }
            if let (Op::Dot { a, b, acc, .. }, &[result]) = (data.op, &data.results[..]) {
                dots.push((a, b, acc, result));
            }
        }
        let &[(a, b, acc, result)] = &dots[..] else { return None };
        // The counter comes before what is carried.
        let carried = func.blocks[region].params.last() == Some(&acc) && func.yielded(region) == [result];
        if !carried || !defs.is_used_once(acc) || !defs.is_used_once(result) {
            return None;
        }
        let last = func.ty(a).shape.rank().checked_sub(1)?;
        let depth = Axes::spread(func, region, &[(a, last), (b, last.checked_sub(1)?)], None)?;
        let columns = Axes::spread(func, func.body, &[(sum, last)], Some(around))?;
        let apart = |axes: &Axes, data: &InstData| {
            let mut outside = true;
            data.for_each_operand(|v| outside &= axes.of[v].is_none() || defs.definition_in(v, region).is_some());
            outside
        };
        // What the loop takes from before it is whole.
        let whole = func.block(region).all(|(_, data)| apart(&depth, data) && apart(&columns, data));
        whole.then_some(Product { around, sum, depth, columns })
    }

    /// How many blocks share it, if each multiplies this many bytes along K; `None` for one.
    pub fn blocks(&self, func: &Function, along_k: u32) -> Option<u32> {
        let bytes = |v: Value| func.ty(v).elem.bits() / 8;
        let region = func.insts[self.around].regions[0];
        let left = |(_, data): (_, &InstData)| if let Op::Dot { a, .. } = data.op { Some(a) } else { None };
        let dot = func.block(region).find_map(left)?;
        let blocks = (self.depth.extent * bytes(dot) / along_k).min(MOST).min(self.columns.extent / COLUMNS);
        let wide = func.ty(self.sum).elem.num().is_some_and(|dtype| dtype != DType::Bool && dtype.bits() >= 32);
        Some(blocks).filter(|&blocks| blocks > 1 && wide)
    }
}

/// Whether a tile is 0 everywhere.
fn is_zero(func: &Function, defs: &Defs, value: Value) -> bool {
    let Some(Op::Splat { x, .. }) = defs.op(func, value) else { return false };
    defs.constant(func, x).is_some_and(|x| x.bits == 0)
}
