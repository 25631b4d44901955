//! What combines the elements along an axis, in the order of the bits of an index.

use super::{Machine, RunError};
use crate::ir::{Block, InstData};
use crate::ops::fold::Part;
use crate::ops::{BitOrder, Effect, FoldKind, LayoutRule, Op, Outer};
use crate::types::Constant;

impl Machine<'_> {
    /// Runs a fold along an axis.
    pub(super) fn run_fold(
        &mut self,
        inst: &InstData,
        kind: FoldKind,
        axis: usize,
        order: BitOrder,
    ) -> Result<(), RunError> {
        let results = match kind {
            FoldKind::Reduce => self.reduced(inst, axis, order)?,
            FoldKind::Scan | FoldKind::ScanReverse => {
                self.scanned(inst, kind, axis, order).map_err(|what| self.error(inst, &what))?
            }
        };
        self.bind(&inst.results, results);
        Ok(())
    }

    /// The values of a digit are combined upwards, all elements of a base tile at once; then elements along the axis in pairs, one bit of the
    /// index after the other.
    fn reduced(&mut self, inst: &InstData, axis: usize, order: BitOrder) -> Result<Vec<Vec<u64>>, RunError> {
        let func = self.func;
        let shape = func.ty(inst.args[0]).shape;
        let extent = shape.dims()[axis] as usize;
        let inner: usize = shape.dims()[axis + 1..].iter().map(|&d| d as usize).product();
        let outer: usize = shape.dims()[..axis].iter().map(|&d| d as usize).product();
        let base = shape.base().dims()[axis] as usize;
        let mut tiles = self.take(&inst.args);
        // How far apart the elements are that each step combines.
        let digits = (1..extent / base).map(|digit| digit * base);
        let bits: Vec<usize> = order.bits(base.trailing_zeros()).into_iter().map(|bit| 1 << bit).collect();
        let mut folded = 0;
        for step in digits.chain(bits) {
            folded |= if step < base { step } else { 0 };
            let firsts: Vec<usize> = (0..base).filter(|k| k & folded == 0).collect();
            let indices =
                |k: usize| (0..outer).flat_map(move |o| (0..inner).map(move |i| (o * extent + k) * inner + i));
            let gather = |tile: &Vec<u64>, other: usize| -> Vec<u64> {
                firsts.iter().flat_map(|&k| indices(k + other)).map(|at| tile[at]).collect()
            };
            let params: Vec<Vec<u64>> =
                tiles.iter().map(|t| gather(t, 0)).chain(tiles.iter().map(|t| gather(t, step))).collect();
            let combined = self.lambda(inst.regions[0], params).map_err(|what| self.error(inst, &what))?;
            for (tile, values) in tiles.iter_mut().zip(combined) {
                firsts.iter().flat_map(|&k| indices(k)).zip(values).for_each(|(at, bits)| tile[at] = bits);
            }
        }
        let left: Vec<usize> = (0..base).filter(|k| k & folded == 0).collect();
        let at = |o: usize| left.iter().flat_map(move |&k| (0..inner).map(move |i| (o * extent + k) * inner + i));
        let first = |tile: Vec<u64>| (0..outer).flat_map(at).map(|at| tile[at]).collect();
        Ok(tiles.into_iter().map(first).collect())
    }

    /// One bit of the index after the other, every element with the bit set is combined with the last one of the half before it.
    fn scanned(
        &mut self,
        inst: &InstData,
        kind: FoldKind,
        axis: usize,
        order: BitOrder,
    ) -> Result<Vec<Vec<u64>>, String> {
        let (func, shape) = (self.func, self.func.ty(inst.args[0]).shape);
        let extent = shape.dims()[axis] as usize;
        let inner: usize = shape.dims()[axis + 1..].iter().map(|&d| d as usize).product();
        let outer: usize = shape.dims()[..axis].iter().map(|&d| d as usize).product();
        let mut tiles = self.take(&inst.args);
        let mut totals = tiles.split_off(func.yielded(inst.regions[0]).len());
        // The elements with this index along an axis of this extent, from where the scan begins.
        let elements = |extent: usize, k: usize| {
            let k = if kind.is_reverse() { extent - 1 - k } else { k };
            (0..outer).flat_map(move |o| (0..inner).map(move |i| (o * extent + k) * inner + i))
        };
        let pick = |tiles: &[Vec<u64>], extent: usize, indices: &[usize]| -> Vec<Vec<u64>> {
            let all = |tile: &Vec<u64>| indices.iter().flat_map(|&k| elements(extent, k)).map(|at| tile[at]).collect();
            tiles.iter().map(all).collect()
        };
        let put = |tiles: &mut [Vec<u64>], extent: usize, indices: &[usize], values: Vec<Vec<u64>>| {
            for (tile, values) in tiles.iter_mut().zip(values) {
                indices.iter().flat_map(|&k| elements(extent, k)).zip(values).for_each(|(at, bits)| tile[at] = bits);
            }
        };
        let before = |k: usize, bit: u8| k >> bit << bit ^ 1 << bit | ((1 << bit) - 1);
        let later = |extent: usize, bit: u8| (0..extent).filter(|k| k >> bit & 1 == 1).collect::<Vec<usize>>();
        let part = kind.part(order, extent as u32).ok_or("a scan of no part of an axis")?;
        let block = if let Part::Across(block) = part { block } else { 0 };
        let blocks = extent >> block;
        for bit in order.bits(extent.trailing_zeros()) {
            let indices = later(extent, bit);
            let firsts: Vec<usize> = indices.iter().map(|&k| before(k, bit)).collect();
            let firsts = if block == 0 {
                pick(&tiles, extent, &firsts)
            } else {
                pick(&totals, blocks, &firsts.iter().map(|k| k >> block).collect::<Vec<_>>())
            };
            let seconds = pick(&tiles, extent, &indices);
            let combined = self.lambda(inst.regions[0], [firsts, seconds].concat())?;
            put(&mut tiles, extent, &indices, combined);
            if block != 0 {
                let (bit, indices) = (bit - block as u8, later(blocks, bit - block as u8));
                let firsts: Vec<usize> = indices.iter().map(|&k| before(k, bit)).collect();
                let both = [pick(&totals, blocks, &firsts), pick(&totals, blocks, &indices)].concat();
                let combined = self.lambda(inst.regions[0], both)?;
                put(&mut totals, blocks, &indices, combined);
            }
        }
        if let Part::Within(block) = part {
            let ends: Vec<usize> = (0..extent >> block).map(|k| (k << block) + (1 << block) - 1).collect();
            // In the order of the index, whichever end the scan begins at.
            let count = ends.len();
            let mut found: Vec<Vec<u64>> = tiles.iter().map(|_| vec![0; outer * count * inner]).collect();
            put(&mut found, count, &(0..count).collect::<Vec<_>>(), pick(&tiles, extent, &ends));
            tiles.append(&mut found);
        }
        Ok(tiles)
    }

    /// A region of elementwise operations on scalars, for many scalars at once.
    fn lambda(&mut self, region: Block, params: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, String> {
        let func = self.func;
        let count = params.first().map_or(0, Vec::len);
        self.bind(&func.blocks[region].params, params);
        for (_, inst) in func.block(region) {
            if inst.op == (Op::Yield {}) {
                return Ok(self.take(&inst.args));
            }
            let elementwise = inst.op.effect() == Effect::Pure && inst.op.layout_rule() == LayoutRule::Elementwise;
            let result = if let Op::Const { value: Constant { bits, .. } }
            | Op::Outer { value: Outer::Known(bits), .. } = inst.op
            {
                vec![bits; count]
            } else if elementwise {
                self.step(inst)?
            } else {
                return Err(format!("`{}` in the combination of a fold", inst.op.mnemonic()));
            };
            self.bind(&inst.results, vec![result]);
        }
        Ok(Vec::new())
    }
}
