//! Lowering of matrix products.
//!
//! The operands arrive in registers, in the layouts that `passes::place` asks for: as fragments of `mma.sync`, whose
//! registers follow one another atom by atom, or, without tensor cores, with all that a thread's own elements need.

use super::elementwise::arith_type;
use super::lower::Lower;
use super::words::Held;
use super::{Class, Mma, Op, Opcode, Reg};
use crate::ir::Value;
use crate::layout::Layout;
use crate::ops::DotKind;
use std::collections::HashMap;

impl Lower<'_> {
    /// The registers of `acc + a · b`.
    pub fn dot(&mut self, a: Value, b: Value, acc: Value, kind: DotKind) -> Result<Vec<Reg>, String> {
        match kind {
            DotKind::Any | DotKind::Tf32 => Err("a product whose instructions are not chosen".into()),
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
        let of_elements = |layout: &Layout| -> HashMap<u32, usize> {
            (0..layout.registers()).map(|r| (layout.register_element(r), r)).collect()
        };
        let (of_a, of_b) = (of_elements(&a_layout), of_elements(&b_layout));
        let missing = "a product whose operands are not where their elements are needed";
        let mut sums = Vec::new();
        for (r, &start) in self.regs(acc).to_vec().iter().enumerate() {
            if self.is_full() {
                return Err("too much code".into());
            }
            let element = acc_layout.register_element(r);
            let (row, column) = (element / n, element % n);
            let mut sum = start;
            for step in 0..k {
                let x = a_regs[*of_a.get(&(row * k + step)).ok_or(missing)?];
                let y = b_regs[*of_b.get(&(step * n + column)).ok_or(missing)?];
                let (op, ty) =
                    if to.is_float() { (Opcode::FmaRn, arith_type(to)) } else { (Opcode::MadLo, arith_type(to)) };
                sum = self.arith(op, ty, &[x.into(), y.into(), sum.into()]);
            }
            sums.push(sum);
        }
        Ok(sums)
    }

    /// Products of atoms by `mma.sync`. Registers of a fragment follow one another atom by atom: those of A and B along K
    /// first, those of the sum along N first.
    fn dot_mma(&mut self, a: Value, b: Value, acc: Value) -> Result<Vec<Reg>, String> {
        let dtype = self.dtype(a)?;
        let atom = Mma::of(dtype).ok_or_else(|| format!("no tensor core instruction for {dtype}"))?;
        let held = Held::of(self.func.ty(a).elem);
        // Narrow elements go several to a register.
        let packed = |cx: &mut Self, v: Value| -> Vec<Reg> {
            let regs = cx.regs(v).to_vec();
            regs.chunks(held.per_word()).map(|word| cx.pack_word(held, word)).collect()
        };
        let (a_regs, b_regs) = (packed(self, a), packed(self, b));
        let mut sums = self.regs(acc).to_vec();
        let [_, _, depth] = atom.shape();
        let (in_a, in_b, in_sum) = atom.registers();
        let steps = self.func.ty(a).shape.dims()[1] as usize / depth;
        let (rows, columns) = (a_regs.len() / in_a / steps, b_regs.len() / in_b / steps);
        if sums.len() != rows * columns * in_sum {
            return Err("a product whose fragments do not fit together".into());
        }
        let class = sums.first().map_or(Class::B32, |reg| reg.class);
        for step in 0..steps {
            for row in 0..rows {
                for column in 0..columns {
                    let (x, y) = ((row * steps + step) * in_a, (column * steps + step) * in_b);
                    let at = (row * columns + column) * in_sum;
                    let c = sums[at..at + in_sum].to_vec();
                    let d: Vec<Reg> = (0..in_sum).map(|_| self.reg(class)).collect();
                    let (a, b) = (a_regs[x..x + in_a].to_vec(), b_regs[y..y + in_b].to_vec());
                    self.emit(Op::Mma { atom, d: d.clone(), a, b, c });
                    sums[at..at + in_sum].copy_from_slice(&d);
                }
            }
        }
        Ok(sums)
    }
}
