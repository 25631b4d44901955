//! Memory that `wgmma` and bulk copies can use: equality with one of six maps.
//!
//! The tensor core reads an operand straight from shared memory if it lies there in panels of swizzled rows, along either of
//! its dimensions ([`Mem::swizzled`]). There are three widths and two dimensions; a [`Mem`] is legal exactly if it *is* one
//! of the six, and the fields of the descriptor follow from which. (PTX ISA, "Matrix descriptor", "Strides".)

use super::Layout;
use super::mem::{Mem, Swizzle};
use crate::types::Shape;

/// The largest extent of the box of a bulk tensor copy.
pub const BOX: u32 = 256;

/// An operand of `wgmma` in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Whether K is contiguous in memory; otherwise M or N is.
    pub k_major: bool,
    /// The pattern.
    pub swizzle: Swizzle,
    /// Stride byte offset: from one group of eight rows to the next.
    pub sbo: u32,
    /// Leading byte offset: from one panel to the next; not used for K-major operands, whose k-steps stay inside a panel.
    pub lbo: u32,
    /// Bytes from one k-step of an instruction to the next, within a panel.
    pub step: u32,
    /// Bytes of a panel.
    pub panel: u32,
    /// Extents of the base tile, along M or N and along K, where there are several copies of it: along one of them at most.
    base: [u32; 2],
    /// Bytes from one copy to the next.
    copy: u32,
}

impl Operand {
    /// The byte at which an instruction begins to read, at row or column `mn` and at `k`, counted in elements of `bits` bits: `mn` at the
    /// beginning of a group of eight, or of a panel if it is contiguous; `k` where a step begins.
    pub fn start(&self, mn: u32, k: u32, bits: u32) -> u32 {
        let width = self.swizzle.bytes();
        let copy = (mn / self.base[0] + k / self.base[1]) * self.copy;
        let [mn, k] = [mn % self.base[0], k % self.base[1]];
        let (along, across) = if self.k_major { (k, mn) } else { (mn, k) };
        let along = along * bits / 8;
        copy + along / width * self.panel + across * width + along % width
    }

    /// The same for every `count`th group of eight rows, of an operand with K contiguous.
    pub fn alternating(self, count: u32) -> Operand {
        Operand { sbo: self.sbo * count, ..self }
    }

    /// The fields of the descriptor beside the address: bits 0 to 31, and 32 to 63.
    pub fn descriptor(&self) -> [u32; 2] {
        let swizzle = match self.swizzle {
            Swizzle::B128 => 1,
            Swizzle::B64 => 2,
            Swizzle::B32 => 3,
        };
        [(self.lbo >> 4) << 16, self.sbo >> 4 | swizzle << 30]
    }
}

/// The box of a bulk tensor copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmaBox {
    /// The pattern.
    pub swizzle: Swizzle,
    /// The dimension that is contiguous, in shared and so in global memory.
    pub major: usize,
    /// Extents of a box, contiguous dimension first.
    pub extent: [u32; 2],
    /// How many boxes make the tile, one a panel.
    pub boxes: u32,
}

impl TmaBox {
    /// Those of one of some blocks that copy as much each: some of the boxes, or of each the same rows, of which a pattern spans eight.
    pub fn part(self, blocks: u32) -> Option<TmaBox> {
        let [across, rows] = self.extent;
        if self.boxes.is_multiple_of(blocks) {
            return Some(TmaBox { boxes: self.boxes / blocks, ..self });
        }
        rows.is_multiple_of(8 * blocks).then_some(TmaBox { extent: [across, rows / blocks], ..self })
    }
}

/// The boxes by which each warp copies from a panel of a tile the rows that it has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpBoxes {
    /// A box, of rows of one warp.
    pub of: TmaBox,
    /// The first rows of a warp's boxes, beside those of the warp itself.
    pub rows: Vec<u32>,
    /// The first row of each bit of a warp's number.
    pub warp: Vec<u32>,
}

impl WarpBoxes {
    /// Those of memory that has one panel of a tile at a time, along its last dimension, to which warps store whole rows in a layout. Panels
    /// begin with a pattern, which spans eight rows; so does each box.
    pub fn of(layout: &Layout, mem: &Mem, shape: Shape) -> Option<WarpBoxes> {
        let (base, major) = (shape.base(), shape.rank().checked_sub(1)?);
        let swizzle = pattern(&mem.clone().with_copies(1).in_parts(0)?, base, major)?;
        let across = swizzle.bytes() * 8 / mem.bits();
        let columns = base.dims()[major];
        if mem.copies() != 1 || 1 << mem.parts() != columns / across {
            return None;
        }
        let whole_rows = layout.warp.iter().all(|&c| c >= columns && c.is_power_of_two());
        let warp: Vec<u32> = layout.warp.iter().map(|&c| c / columns).collect();
        let first = warp.iter().copied().min().filter(|&first| whole_rows && first >= 8)?;
        let mut rows = vec![0];
        let all = base.elements() as u32 / columns;
        let others = (first.ilog2()..all.ilog2()).map(|bit| 1 << bit).filter(|row| !warp.contains(row));
        for row in others {
            rows.extend(rows.clone().iter().map(|first| first + row));
        }
        Some(WarpBoxes { of: TmaBox { swizzle, major, extent: [across, first], boxes: 1 }, rows, warp })
    }
}

/// The pattern that a memory has along a dimension, if rows fill it.
fn pattern(mem: &Mem, shape: Shape, major: usize) -> Option<Swizzle> {
    let along = shape.base().dims().get(major)? * mem.bits() / 8;
    let fits = |s: &Swizzle| along >= s.bytes() && mem.is_swizzled(shape, *s, major);
    Swizzle::ALL.into_iter().find(fits)
}

/// How `wgmma` reads this memory as an operand `shape` (of two dimensions) with K along dimension `k`, if it can. Only
/// 16-bit operands may be contiguous along another dimension than K. Where there are several copies along M or N, an instruction may read
/// from more than one: groups of eight rows, or panels, are as far apart in all of them.
pub fn wgmma_operand(mem: &Mem, shape: Shape, k: usize) -> Option<Operand> {
    if shape.rank() != 2 || k > 1 {
        return None;
    }
    let operand = |major: usize| {
        let (swizzle, k_major) = (pattern(mem, shape, major)?, major == k);
        let (width, base, copies) = (swizzle.bytes(), shape.base(), shape.copies());
        let panel = base.dims()[1 - major] * width;
        let (lbo, step) = if k_major { (16, 32) } else { (panel, 16 * width) };
        let [mn_copies, k_copies] = [copies.dims()[1 - k], copies.dims()[k]];
        let one_panel = base.dims()[k] * mem.bits() / 8 == width;
        if mn_copies > 1 && (k_copies > 1 || k_major && !one_panel) {
            return None;
        }
        let within = |axis: usize| if copies.dims()[axis] > 1 { base.dims()[axis] } else { u32::MAX };
        let (base, copy) = ([within(1 - k), within(k)], mem.copy_bytes() as u32);
        Some(Operand { k_major, swizzle, sbo: 8 * width, lbo, step, panel, base, copy })
    };
    operand(k).or_else(|| operand(1 - k).filter(|_| mem.bits() == 16))
}

/// The memory for an operand of `wgmma` of this shape with K along dimension `k`, which is written along dimension `along`: the widest
/// pattern along that dimension that an instruction which spans `extent` elements of the other one than K can read.
/// `None` if there is none.
pub fn wgmma_mem(shape: Shape, bits: u32, k: usize, along: usize, extent: u32) -> Option<Mem> {
    let fits = |s: &Swizzle| along == k || extent * bits / 8 >= s.bytes();
    let mems = Swizzle::ALL.into_iter().filter(fits).filter_map(|s| Mem::swizzled(shape, bits, s, along));
    mems.into_iter().find(|mem| wgmma_operand(mem, shape, k).is_some_and(|operand| operand.k_major == (along == k)))
}

/// The bulk copies that fill this memory of a matrix, if some do.
pub fn tma_box(mem: &Mem, shape: Shape) -> Option<TmaBox> {
    let shape = shape.as_matrix()?;
    [1, 0].into_iter().find_map(|major| {
        let swizzle = pattern(mem, shape, major)?;
        let across = swizzle.bytes() * 8 / mem.bits();
        let (boxes, copies) = (shape.dims()[major] / across, shape.copies().dims()[1 - major]);
        // The panels of a copy lie together.
        if boxes > 1 && copies > 1 {
            return None;
        }
        let extent = [across, shape.dims()[1 - major]];
        Some(TmaBox { swizzle, major, extent, boxes })
    })
}
