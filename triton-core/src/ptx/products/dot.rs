//! Lowering of matrix products.
//!
//! Operands are in registers, in the layouts that `passes::place` asks for, or in shared memory, from which what a step
//! along K needs is loaded one step ahead ([`crate::ptx::products::fragments`]). The step is the outermost loop: what
//! it has loaded is used by all sums, and neighbouring instructions do not wait for one another.

use crate::hash::WordMap;
use crate::ir::{InstData, Value};
use crate::layout::Layout;
use crate::ops::{self, DotKind};
use crate::ptx::arithmetic::elementwise::arith_type;
use crate::ptx::arithmetic::words::Held;
use crate::ptx::lower::Lower;
use crate::ptx::products::fragments::Fragments;
use crate::ptx::{Mma, Op, Opcode, Operands, Reg};

impl Lower<'_> {
    /// The registers of `acc + a · b`.
    pub fn dot(&mut self, inst: &InstData) -> Result<Vec<Reg>, String> {
        let ops::Op::Dot { kind, a, b, acc } = inst.op else { return Err("no product".into()) };
        let layouts = self.func.operand_layouts(&inst.op).map(|all| all.map(|(_, layout)| layout));
        match (kind, layouts) {
            (DotKind::Any | DotKind::Tf32, _) | (_, None) => {
                Err("a product whose instructions or layouts are not chosen".into())
            }
            (DotKind::Fma, Some(layouts)) => self.dot_fma([a, b, acc], layouts),
            (DotKind::Wgmma, Some(_)) => self.dot_wgmma([a, b, acc]),
            (DotKind::Mma, Some(layouts)) => self.dot_mma(Mma::of(self.dtype(a)?), [a, b, acc], layouts),
            (DotKind::MmaM8, Some(layouts)) => self.dot_mma(Some(Mma::F64M8), [a, b, acc], layouts),
        }
    }

    /// One multiplication and addition after the other, along K upwards.
    fn dot_fma(&mut self, [a, b, acc]: [Value; 3], [left, right]: [Layout; 2]) -> Result<Vec<Reg>, String> {
        let acc_layout = self.func.layout(acc).cloned().ok_or("a tile without a layout")?;
        let (of_a, of_sum) = (self.func.ty(a).shape.matrices(), self.func.ty(acc).shape.matrices());
        let (Some((_, [_, k])), Some((_, [m, n]))) = (of_a, of_sum) else { return Err("no matrices".into()) };
        let (from, to) = (self.dtype(a)?, self.dtype(acc)?);
        // All of them are in lane 0 of warp 0 what they are elsewhere, but for what lane and warp add to all alike.
        let of_elements = |layout: &Layout| -> WordMap<u32, usize> {
            (0..layout.registers()).map(|r| (layout.register_element(r), r)).collect()
        };
        let (of_a, of_b) = (of_elements(&left), of_elements(&right));
        let mut x = Fragments::new(self, a, &left, 1, false, |r| (left.register_element(r) % k) as usize)?;
        let mut y = Fragments::new(self, b, &right, 1, false, |r| (right.register_element(r) / n % k) as usize)?;
        let in_place = self.analyses.loop_carried.sums[acc];
        let mut sums = self.regs(acc).to_vec();
        let order = serpentine(&acc_layout, n);
        let (op, ty) = if to.is_float() { (Opcode::FmaRn, arith_type(to)) } else { (Opcode::MadLo, arith_type(to)) };
        let missing = "a product whose operands are not where their elements are needed";
        for step in 0..k {
            if self.code.is_full() {
                return Err("too much code".into());
            }
            x.load_until(self, step as usize + 1);
            y.load_until(self, step as usize + 1);
            // Each element of the step as a number of the sum's type, once.
            let mut widened: [WordMap<usize, Reg>; 2] = Default::default();
            for &r in &order {
                let sum = &mut sums[r];
                let element = acc_layout.register_element(r);
                // Rows are numbered on from matrix to matrix.
                let (row, column, matrix) = (element / n, element % n, element / (m * n));
                let at = [of_a.get(&(row * k + step)), of_b.get(&((matrix * k + step) * n + column))];
                let mut factors = Vec::with_capacity(3);
                for ((at, fragments), widened) in at.into_iter().zip([&mut x, &mut y]).zip(&mut widened) {
                    let at = *at.ok_or(missing)?;
                    let reg = match widened.get(&at) {
                        Some(&reg) => reg,
                        None => {
                            let reg = fragments.word(self, at)?;
                            self.cast(from, to, reg)
                        }
                    };
                    widened.insert(at, reg);
                    factors.push(reg.into());
                }
                factors.push((*sum).into());
                if in_place {
                    self.emit(Op::Arith { op, ty, dst: *sum, srcs: Operands::new(&factors) });
                } else {
                    *sum = self.arith(op, ty, &factors);
                }
            }
        }
        Ok(sums)
    }

    /// Products of atoms by `mma.sync`. Registers of a fragment follow one another atom by atom: those of A and B along K
    /// first, those of the sum along N first.
    fn dot_mma(
        &mut self,
        atom: Option<Mma>,
        [a, b, acc]: [Value; 3],
        [left, right]: [Layout; 2],
    ) -> Result<Vec<Reg>, String> {
        let atom = atom.ok_or("no tensor core instruction for a type")?;
        // Narrow elements go several to a register.
        let per_word = Held::of(self.func.ty(a).elem).per_word();
        let mut sums = self.regs(acc).to_vec();
        let [_, _, depth] = atom.shape();
        let (in_a, in_b, in_sum) = atom.registers();
        let (_, [_, k]) = self.func.ty(a).shape.matrices().ok_or("no matrices")?;
        let steps = k as usize / depth;
        // Of a batch a thread may have several matrices, one after the other: both counts are of all of them.
        let (rows, columns) = (left.registers() / per_word / in_a / steps, right.registers() / per_word / in_b / steps);
        let matrices = rows * columns * in_sum / sums.len().max(1);
        if matrices == 0 || rows % matrices != 0 || columns % matrices != 0 {
            return Err("a product whose fragments do not fit together".into());
        }
        let columns = columns / matrices;
        let rounds = atom == Mma::Tf32;
        let mut x = Fragments::new(self, a, &left, per_word, rounds, |r| r / per_word / in_a % steps)?;
        let mut y = Fragments::new(self, b, &right, per_word, rounds, |r| r / per_word / in_b % steps)?;
        let in_place = self.analyses.loop_carried.sums[acc];
        for step in 0..steps {
            x.load_until(self, step + 1);
            y.load_until(self, step + 1);
            for row in 0..rows {
                let a = x.words(self, (row * steps + step) * in_a, in_a)?;
                let first = row / (rows / matrices) * columns;
                for column in 0..columns {
                    let b = y.words(self, ((first + column) * steps + step) * in_b, in_b)?;
                    let at = (row * columns + column) * in_sum;
                    let c = sums[at..at + in_sum].to_vec();
                    let d: Vec<Reg> = if in_place { c.clone() } else { c.iter().map(|c| self.reg(c.class)).collect() };
                    sums[at..at + in_sum].copy_from_slice(&d);
                    self.emit(Op::Mma { atom, d, a: a.clone(), b, c });
                }
            }
        }
        Ok(sums)
    }
}

/// The registers of a sum with `n` columns, column by column, every other column upwards: two multiplications in a row have an operand in
/// common, which the register file need not read again. Assemblers keep the order.
fn serpentine(sum: &Layout, n: u32) -> Vec<usize> {
    let element = |&r: &usize| (sum.register_element(r) % n, sum.register_element(r) / n);
    let mut order: Vec<usize> = (0..sum.registers()).collect();
    order.sort_by_key(element);
    let columns = order.chunk_by_mut(|a, b| element(a).0 == element(b).0);
    columns.skip(1).step_by(2).for_each(|column| column.reverse());
    order
}
