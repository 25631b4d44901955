//! A product in a loop that can be divided along K.

use super::axes::Axes;
use crate::analysis::defs::Defs;
use crate::ir::{Function, Inst, InstData, Value};
use crate::ops::{Control, Effect, Op};
use crate::types::DType;

/// Columns of a sum that a block is left with at least.
const MIN_COLUMNS: u32 = 8;
/// Bytes along K of a block's part of a tile, at least: those of an instruction of tensor cores.
const MIN_BYTES: u32 = 32;

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
    /// That of a function at stage 0, if it has one loop, which does nothing else; or what is in the way.
    pub fn of(func: &Function) -> Result<Product, String> {
        let loops = func.block(func.body).filter(|(_, data)| data.op.control().is_some_and(Control::repeats));
        let loops: Vec<(Inst, &InstData)> = loops.collect();
        let &[(around, data)] = &loops[..] else {
            return Err(format!("the kernel has {} loops, not one", loops.len()));
        };
        if !matches!(data.op, Op::For { .. }) {
            return Err("its loop is not a `for`".into());
        }
        let (&[region], &[sum], &[init]) = (&data.regions[..], &data.results[..], &data.args[..]) else {
            return Err(format!("its loop carries {} values, not the sum alone", data.results.len()));
        };
        let defs = Defs::of(func);
        if !is_zero(func, &defs, init) {
            return Err("the sum does not begin as 0".into());
        }
        let mut dots = Vec::new();
        for (_, data) in func.block(region) {
            let load = matches!(data.op, Op::Load { .. } | Op::Yield {});
            if !load && data.op.effect() != Effect::Pure {
                return Err(format!("its loop does more than load and compute: `{}`", data.op.mnemonic()));
            }
            if let (Op::Dot { a, b, acc, .. }, &[result]) = (data.op, &data.results[..]) {
                dots.push((a, b, acc, result));
            }
        }
        let &[(a, b, acc, result)] = &dots[..] else {
            return Err(format!("its loop has {} products, not one", dots.len()));
        };
        // The counter comes before what is carried.
        let carried = func.blocks[region].params.last() == Some(&acc) && func.yielded(region) == [result];
        if !carried || !defs.is_used_once(acc) || !defs.is_used_once(result) {
            return Err("what the loop adds up is not its product alone".into());
        }
        let apart = |axes: &Axes, data: &InstData| {
            let mut outside = true;
            data.for_each_operand(|v| outside &= axes.of[v].is_none() || defs.definition_in(v, region).is_some());
            outside
        };
        let divided = || {
            let last = func.ty(a).shape.rank().checked_sub(1)?;
            let depth = Axes::spread(func, region, &[(a, last), (b, last.checked_sub(1)?)], None)?;
            let columns = Axes::spread(func, func.body, &[(sum, last)], Some(around))?;
            // What the loop takes from before it is whole.
            let whole = func.block(region).all(|(_, data)| apart(&depth, data) && apart(&columns, data));
            whole.then_some(Product { around, sum, depth, columns })
        };
        divided().ok_or_else(|| "an operation needs elements that are another block's".to_string())
    }

    /// Whether this many blocks can share it.
    pub fn check(&self, func: &Function, blocks: u32) -> Result<(), String> {
        let region = func.insts[self.around].regions[0];
        let left = |(_, data): (_, &InstData)| if let Op::Dot { a, .. } = data.op { Some(a) } else { None };
        let bits = func.block(region).find_map(left).map_or(0, |a| func.ty(a).elem.bits());
        let wide = func.ty(self.sum).elem.num().is_some_and(|dtype| dtype != DType::Bool && dtype.bits() >= 32);
        if !wide {
            return Err("the sum is not of 32 or 64 bits".into());
        }
        if func.copies(self.sum) > 1 {
            return Err(format!("the extents of the sum, {}, are not powers of two", func.ty(self.sum).shape));
        }
        if self.columns.extent / blocks < MIN_COLUMNS {
            return Err(format!(
                "each block needs {MIN_COLUMNS} columns of the sum, which has {}",
                self.columns.extent
            ));
        }
        if self.depth.extent / blocks * (bits / 8) < MIN_BYTES {
            return Err(format!("each block needs {MIN_BYTES} bytes along K, of {} elements", self.depth.extent));
        }
        Ok(())
    }
}

/// Whether a tile is 0 everywhere.
fn is_zero(func: &Function, defs: &Defs, value: Value) -> bool {
    let Some(Op::Splat { x, .. }) = defs.op(func, value) else { return false };
    defs.constant(func, x).is_some_and(|x| x.bits == 0)
}
