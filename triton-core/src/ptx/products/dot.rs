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
use crate::types::Shape;

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
        let [of_a, of_b, of_sum] = [a, b, acc].map(|v| self.func.ty(v).shape);
        let (Some((_, [_, k])), Some((_, [m, n]))) = (of_a.matrices(), of_sum.matrices()) else {
            return Err("no matrices".into());
        };
        let (from, to) = (self.dtype(a)?, self.dtype(acc)?);
        // All of them are in lane 0 of warp 0 what they are elsewhere, but for what lane and warp add to all alike.
        let elements_of_a = elements(&left, of_a);
        let elements_of_b = elements(&right, of_b);
        let elements_of_sum = elements(&acc_layout, of_sum);
        let registers_of = |elements: &[u32]| -> WordMap<u32, usize> {
            elements.iter().enumerate().map(|(r, &element)| (element, r)).collect()
        };
        let (of_a, of_b) = (registers_of(&elements_of_a), registers_of(&elements_of_b));
        let mut x = Fragments::new(self, a, &left, 1, false, |r| (elements_of_a[r] % k) as usize)?;
        let mut y = Fragments::new(self, b, &right, 1, false, |r| (elements_of_b[r] / n % k) as usize)?;
        let in_place = self.analyses.loop_carried.sums[acc];
        let mut sums = self.regs(acc).to_vec();
        let order = serpentine(&elements_of_sum, n);
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
                let element = elements_of_sum[r];
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
        let (left_words, right_words) = (left.registers() / per_word, right.registers() / per_word);
        let (of_a, of_sum) = (self.func.ty(a).shape, self.func.ty(acc).shape);
        let (_, [_, k]) = of_a.base().matrices().ok_or("no matrices")?;
        let (_, [of_m, of_k]) = of_a.copies().matrices().ok_or("no matrices")?;
        let (batch, [_, of_n]) = of_sum.copies().matrices().ok_or("no matrices")?;
        let [batch, of_m, of_k, of_n] = [batch, of_m, of_k, of_n].map(|copies| copies as usize);
        let steps = k as usize / depth;
        // Of a batch a thread may have several matrices, one after the other: both counts are of all of them.
        let (rows, columns) = (left_words / in_a / steps, right_words / in_b / steps);
        let in_copy = sums.len() / (batch * of_m * of_n);
        let matrices = rows * columns * in_sum / in_copy.max(1);
        if matrices == 0 || rows % matrices != 0 || columns % matrices != 0 {
            return Err("a product whose fragments do not fit together".into());
        }
        let columns = columns / matrices;
        let rounds = atom == Mma::Tf32;
        // Copies of the operands are `[batch, of_m, of_k]` and `[batch, of_k, of_n]`.
        let step_of = |copy: usize, word: usize, of_step: usize| copy % of_k * steps + word / of_step % steps;
        let step_of_left = |r: usize| step_of(r / per_word / left_words, r / per_word % left_words, in_a);
        let step_of_right = |r: usize| step_of(r / per_word / right_words / of_n, r / per_word % right_words, in_b);
        let mut x = Fragments::new(self, a, &left, per_word, rounds, step_of_left)?;
        let mut y = Fragments::new(self, b, &right, per_word, rounds, step_of_right)?;
        let in_place = self.analyses.loop_carried.sums[acc];
        for all_steps in 0..of_k * steps {
            x.load_until(self, all_steps + 1);
            y.load_until(self, all_steps + 1);
            let (of_k_copy, step) = (all_steps / steps, all_steps % steps);
            for (m_copy, row) in (0..batch * of_m).flat_map(|copy| (0..rows).map(move |row| (copy, row))) {
                let at = (m_copy * of_k + of_k_copy) * left_words + (row * steps + step) * in_a;
                let a = x.words(self, at, in_a)?;
                let first = row / (rows / matrices) * columns;
                for (n_copy, column) in (0..of_n).flat_map(|copy| (0..columns).map(move |column| (copy, column))) {
                    let of_b = (m_copy / of_m * of_k + of_k_copy) * of_n + n_copy;
                    let b = y.words(self, of_b * right_words + ((first + column) * steps + step) * in_b, in_b)?;
                    let at = (m_copy * of_n + n_copy) * in_copy + (row * columns + column) * in_sum;
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
fn serpentine(elements: &[u32], n: u32) -> Vec<usize> {
    let element = |&r: &usize| (elements[r] % n, elements[r] / n);
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_by_key(element);
    let columns = order.chunk_by_mut(|a, b| element(a).0 == element(b).0);
    columns.skip(1).step_by(2).for_each(|column| column.reverse());
    order
}

/// The element, row-major, that each register of a tile is in lane 0 of warp 0.
fn elements(layout: &Layout, shape: Shape) -> Vec<u32> {
    let of_copy = |copy| (0..layout.registers()).map(move |r| shape.index(copy, layout.register_element(r)) as u32);
    (0..shape.num_copies()).flat_map(of_copy).collect()
}
