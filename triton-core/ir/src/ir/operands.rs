//! The operands of a product, which are in registers or in shared memory. In shared memory each thread reads those elements that it
//! would have in registers, as late as it multiplies them; or a slice of it.

use super::{Function, InstData, Value};
use crate::layout::{Layout, products};
use crate::ops::{DotKind, Op};
use crate::types::Slice;

impl Function {
    /// The layout in which a product whose instructions are chosen multiplies its left and its right operand; `None` of anything else.
    pub fn operand_layouts(&self, op: &Op) -> Option<[(Value, Layout); 2]> {
        let Op::Dot { kind, a, b, acc } = *op else { return None };
        let (ty, shape) = (self.ty(a), self.ty(acc).shape);
        let (_, [_, depth]) = ty.shape.matrices()?;
        let sum = self.layout(acc)?;
        let [left, right] = match kind {
            DotKind::Any | DotKind::Tf32 => return None,
            DotKind::Fma => products::fma(sum, shape, depth)?,
            DotKind::Wgmma => products::wgmma(sum, shape, depth, ty.elem.bits())?,
            DotKind::Mma => products::mma(sum, shape, depth, ty.elem.bits(), products::atom(ty.elem.num()?)?.0)?,
            DotKind::MmaM8 => products::mma(sum, shape, depth, ty.elem.bits(), products::M8_F64.0)?,
        };
        Some([(a, left), (b, right)])
    }

    /// The slice of a tile in shared memory that an instruction reads, and its layout as one of elements of the tile.
    pub fn slice(&self, data: &InstData) -> Option<(Slice, Layout)> {
        let Op::SharedSlice { buffer, axis, start, extent, .. } = data.op else { return None };
        let slice = Slice::new(self.ty(buffer).shape, axis as usize, start, extent)?;
        Some((slice, self.layout(*data.results.first()?)?.compose(&slice.columns())))
    }

    /// The operands that an operation reads from shared memory by itself, each with the layout in which threads need it.
    pub fn shared_operands(&self, op: &Op) -> Vec<(Value, Layout)> {
        let Op::Dot { kind, a, b, .. } = *op else { return Vec::new() };
        if self.mem(a).is_none() && self.mem(b).is_none() {
            return Vec::new();
        }
        let layouts = self.operand_layouts(op).into_iter().flatten();
        let in_memory = layouts.filter(|&(operand, _)| self.mem(operand).is_some());
        in_memory.map(|(operand, layout)| (operand, self.reads_of(kind, operand, layout))).collect()
    }

    /// By which threads a product reads an operand in shared memory: `wgmma` reads it for all warps.
    fn reads_of(&self, kind: DotKind, operand: Value, layout: Layout) -> Layout {
        match kind {
            DotKind::Wgmma => Layout::of_every_warp(self.ty(operand).shape.base().elements() as u32, layout.warp.len()),
            DotKind::Any | DotKind::Tf32 | DotKind::Fma | DotKind::Mma | DotKind::MmaM8 => layout,
        }
    }
}
