//! Code of matrix products.
//!
//! The operands arrive in registers, in the layouts that `passes::place` asks for: as fragments of `mma.sync`, whose
//! registers follow one another atom by atom, or, without tensor cores, with all that a thread's own elements need.

use super::elementwise::arith_type;
use super::lower::Lower;
use super::{Class, MmaType, Op, Opcode, Reg};
use crate::ir::Value;
use crate::ir::types::DType;
use crate::layout::Layout;
use crate::ops::DotKind;

impl Lower<'_> {
    /// The registers of `acc + a · b`.
    pub fn dot(&mut self, a: Value, b: Value, acc: Value, kind: DotKind) -> Result<Vec<Reg>, String> {
        match kind {
            DotKind::Any => Err("a product whose instructions are not chosen".into()),
            DotKind::Fma => self.dot_fma(a, b, acc),
            DotKind::Mma => self.dot_mma(a, b, acc),
        }
    }

    /// One multiplication and addition after the other, along K upwards.
    fn dot_fma(&mut self, a: Value, b: Value, acc: Value) -> Result<Vec<Reg>, String> {
        let layout = |v: Value| self.func.layout(v).cloned().ok_or("a tile without a layout");
        let (a_layout, b_layout, acc_layout) = (layout(a)?, layout(b)?, layout(acc)?);
        let (k, n) = (self.func.ty(a).shape.dims()[1], self.func.ty(b).shape.dims()[1]);
        let (from, to) = (self.dtype(a)?, self.dtype(acc)?);
        let widened = |cx: &mut Self, v: Value| -> Vec<Reg> {
            let regs = cx.regs(v).to_vec();
            regs.into_iter().map(|reg| cx.cast(from, to, reg)).collect()
        };
        let (a_regs, b_regs) = (widened(self, a), widened(self, b));
        // All of them are in lane 0 of warp 0 what they are elsewhere, but for what lane and warp add to all alike.
        let find =
            |layout: &Layout, element: u32| (0..layout.registers()).find(|&r| layout.register_element(r) == element);
        let missing = "a product whose operands are not where their elements are needed";
        let mut sums = Vec::new();
        for (r, &start) in self.regs(acc).to_vec().iter().enumerate() {
            let element = acc_layout.register_element(r);
            let (row, column) = (element / n, element % n);
            let mut sum = start;
            for step in 0..k {
                let x = a_regs[find(&a_layout, row * k + step).ok_or(missing)?];
                let y = b_regs[find(&b_layout, step * n + column).ok_or(missing)?];
                let (op, ty) =
                    if to.is_float() { (Opcode::FmaRn, arith_type(to)) } else { (Opcode::MadLo, arith_type(to)) };
                sum = self.arith(op, ty, &[x.into(), y.into(), sum.into()]);
            }
            sums.push(sum);
        }
        Ok(sums)
    }

    /// `mma.sync.m16n8k16` for half types.
    fn dot_mma(&mut self, a: Value, b: Value, acc: Value) -> Result<Vec<Reg>, String> {
        let dtype = self.dtype(a)?;
        let known = [(DType::F16, MmaType::F16), (DType::BF16, MmaType::BF16)];
        let Some(&(_, ty)) = known.iter().find(|(d, _)| *d == dtype) else {
            return Err(format!("no tensor core instruction for {dtype}"));
        };
        // Two elements to a register.
        let packed = |cx: &mut Self, v: Value| -> Vec<Reg> {
            let regs = cx.regs(v).to_vec();
            let pair = |cx: &mut Self, pair: &[Reg]| {
                let dst = cx.reg(Class::B32);
                cx.emit(Op::Pack { dst, lo: pair[0], hi: pair[1] });
                dst
            };
            regs.chunks(2).map(|p| pair(cx, p)).collect()
        };
        let (a_regs, b_regs) = (packed(self, a), packed(self, b));
        let mut sums = self.regs(acc).to_vec();
        let steps = self.func.ty(a).shape.dims()[1] as usize / 16;
        // Atoms of A and B lie along K first; those of the sum along N first.
        let (rows, columns) = (a_regs.len() / 4 / steps, b_regs.len() / 2 / steps);
        if sums.len() != rows * columns * 4 {
            return Err("a product whose fragments do not fit together".into());
        }
        for step in 0..steps {
            for row in 0..rows {
                for column in 0..columns {
                    let (x, y) = ((row * steps + step) * 4, (column * steps + step) * 2);
                    let at = (row * columns + column) * 4;
                    let c = [sums[at], sums[at + 1], sums[at + 2], sums[at + 3]];
                    let d: [Reg; 4] = std::array::from_fn(|_| self.reg(Class::B32));
                    let a = [a_regs[x], a_regs[x + 1], a_regs[x + 2], a_regs[x + 3]];
                    self.emit(Op::Mma { ty, d, a, b: [b_regs[y], b_regs[y + 1]], c });
                    sums[at..at + 4].copy_from_slice(&d);
                }
            }
        }
        Ok(sums)
    }
}
