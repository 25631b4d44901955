//! Lowering of products by `wgmma`: four warps multiply what is in shared memory, from a descriptor of where.
//!
//! Sums are in place: an instruction adds to the registers of its operand. All instructions of a product are one group: a `dot.wait` is for
//! all groups but those that began after its own, which [`in_flight`](crate::ir::in_flight) counts.
//!
//! Descriptors differ between warpgroups and slots in the address alone. It is computed once and stepped by constants; the number of the
//! warpgroup comes from a shuffle, by which assemblers know that it is uniform in a warp. (PTX ISA, "Asynchronous warpgroup-level matrix
//! instructions".)

use crate::ir::Value;
use crate::layout::{Atom, Tiling, hopper, products};
use crate::ops;
use crate::ptx::arithmetic::words::Held;
use crate::ptx::lower::Lower;
use crate::ptx::lower::buffers::Place;
use crate::ptx::{Class, Mma, Op, Opcode, Operand, Reg, Special, Ty};
use crate::types::Shape;

/// The bits of an address that a descriptor has. In a cluster there are others, the block's rank, which would be in its leading offset.
const ADDRESS: i64 = (1 << 18) - 1;

/// An operand in shared memory.
struct Source {
    operand: hopper::Operand,
    bits: u32,
    /// Bits 0 to 31 of the descriptor at the warpgroup's first element, and bits 32 to 63.
    descriptor: [Reg; 2],
}

impl Lower<'_> {
    /// The registers of `acc + a · b`.
    pub(crate) fn dot_wgmma(&mut self, [a, b, acc]: [Value; 3]) -> Result<Vec<Reg>, String> {
        let dtype = self.dtype(a)?;
        let kind = Mma::of(dtype).ok_or_else(|| format!("no tensor core instruction for {dtype}"))?;
        let (shape, depth) = (self.func.ty(acc).shape, self.func.ty(a).shape.dims()[1]);
        let tiling = self.func.layout(acc).and_then(|sum| products::wgmma_tiling_of(sum, shape));
        let (Some(tiling @ Tiling { atom: Atom::Wgmma { n }, .. }), Some(k)) = (tiling, products::wgmma_depth(dtype))
        else {
            return Err("a product of warpgroups in another layout".into());
        };
        let &[rows, columns] = shape.dims() else { return Err("a product of no matrices".into()) };
        let (rows_apart, columns_apart) = (16 * tiling.warps_m, n * tiling.warps_n);
        // A sum that something else reads, too, stays as it is; zeros are not read at all.
        let (defs, count) = (self.analyses.demand.defs(), self.registers(acc));
        let is_zero = matches!(defs.op(self.func, acc), Some(ops::Op::Splat { x, .. }) if defs.constant(self.func, x).is_some_and(|x| x.bits == 0));
        let sums: Vec<Reg> = if is_zero {
            (0..count).map(|_| self.reg(Class::B32)).collect()
        } else if self.analyses.loop_carried.sums[acc] {
            self.regs(acc).to_vec()
        } else {
            self.regs(acc).to_vec().into_iter().map(|sum| self.copy(sum)).collect()
        };
        let groups_m = tiling.warps_m / 4;
        let left = match self.func.mem(a) {
            Some(_) => Some(self.wgmma_source(a, 1, products::ROWS, [1, groups_m])?),
            None => None,
        };
        let per_word = Held::of(self.func.ty(a).elem).per_word();
        let fragments: Vec<Reg> = match left {
            Some(_) => Vec::new(),
            None => {
                let (held, elements) = (Held::of(self.func.ty(a).elem), self.regs(a).to_vec());
                let mut words: Vec<Reg> = elements.chunks(per_word).map(|of| self.pack_word(held, of)).collect();
                if kind == Mma::Tf32 {
                    words.iter_mut().for_each(|word| *word = self.tf32(*word));
                }
                words
            }
        };
        let right = if tiling.alternates(shape) {
            // Each warpgroup begins at a group of eight columns of its own, and the next of its groups is behind those of the others.
            let mut right = self.wgmma_source(b, 0, 8, [groups_m, tiling.warps_n])?;
            let high = right.operand.alternating(tiling.warps_n).descriptor()[1];
            right.descriptor[1] = self.at_entry(|cx| cx.mov(Ty::U32, i64::from(high)));
            right
        } else {
            self.wgmma_source(b, 0, n, [groups_m, tiling.warps_n])?
        };
        let (steps, repeats) = (depth / k, columns.div_ceil(columns_apart));
        let (of_m, of_k) = (shape.copies().dims()[0], self.func.ty(a).shape.copies().dims()[1]);
        let (rows_of_copy, steps_of_copy) = (rows.div_ceil(rows_apart) / of_m, steps / of_k);
        let registers = n as usize / 2;
        self.emit(Op::WgmmaFence);
        for step in 0..steps {
            for row in 0..rows_of_copy * of_m {
                let (a, a_transposed) = match &left {
                    Some(left) => (vec![self.descriptor(left, row * rows_apart, step * k)], !left.operand.k_major),
                    None => {
                        let copy = row / rows_of_copy * of_k + step / steps_of_copy;
                        let of_copy = row % rows_of_copy * steps_of_copy + step % steps_of_copy;
                        let at = 4 * (copy * rows_of_copy * steps_of_copy + of_copy) as usize;
                        (fragments.get(at..at + 4).ok_or("a product without fragments")?.to_vec(), false)
                    }
                };
                let of_row = sums_of_row(&sums, shape, row, rows_of_copy);
                for column in 0..repeats {
                    let b = self.descriptor(&right, column * columns_apart, step * k);
                    let at = registers * column as usize;
                    let d = of_row.get(at..at + registers).ok_or("a product with too few sums")?.to_vec();
                    let transposed = [a_transposed, !right.operand.k_major];
                    let a = a.clone();
                    self.emit(match is_zero && step == 0 {
                        true => Op::WgmmaFirst { kind, d, a, b, transposed },
                        false => Op::Wgmma { kind, d, a, b, transposed },
                    });
                }
            }
        }
        self.emit(Op::WgmmaCommit);
        Ok(sums)
    }

    /// Waits for the product that a sum is of, whose registers the result has.
    pub(crate) fn dot_wait(&mut self, sum: Value, result: Value) -> Vec<Reg> {
        if let Some(groups) = self.analyses.newer[result] {
            self.emit(Op::WgmmaWait { groups });
        }
        self.regs(sum).to_vec()
    }

    /// An operand in shared memory with K along dimension `k`. Of the number of a warpgroup, divided by the first of `groups` and modulo
    /// the second one, each unit is `apart` elements along the other dimension.
    fn wgmma_source(&mut self, value: Value, k: usize, apart: u32, groups: [u32; 2]) -> Result<Source, String> {
        let (ty, missing) = (self.func.ty(value), "an operand that `wgmma` cannot read");
        let operand = self.func.mem(value).and_then(|mem| hopper::wgmma_operand(mem, ty.shape, k)).ok_or(missing)?;
        let (bits, Place { at, slot }) = (ty.elem.bits(), self.buffers.place(value).ok_or(missing)?);
        let [low, high] = operand.descriptor();
        let unit = operand.start(apart, 0, bits);
        let base = self.warpgroup_address(unit, groups);
        let mut address = self.arith(Opcode::Add, Ty::S32, &[base.into(), i64::from(at).into()]);
        if let Some(slot) = slot {
            address = self.arith(Opcode::Add, Ty::S32, &[address.into(), slot.into()]);
        }
        let address = self.arith(Opcode::Shr, Ty::U32, &[address.into(), 4.into()]);
        let low = self.arith(Opcode::Add, Ty::S32, &[address.into(), i64::from(low).into()]);
        let high = self.at_entry(|cx| cx.mov(Ty::U32, i64::from(high)));
        Ok(Source { operand, bits, descriptor: [low, high] })
    }

    /// The address of shared memory, `unit` bytes further for each unit of a warpgroup's number: computed at the entry.
    fn warpgroup_address(&mut self, unit: u32, [divisor, modulus]: [u32; 2]) -> Reg {
        let compute = |cx: &mut Self| {
            let mut base = cx.mov(Ty::U32, Operand::Special(Special::Shared));
            if cx.func.blocks_of_cluster() > 1 {
                base = cx.arith(Opcode::And, Ty::B32, &[base.into(), ADDRESS.into()]);
            }
            if modulus == 1 {
                return base;
            }
            let thread = cx.thread();
            let (shift, lane) = (i64::from(7 + divisor.ilog2()), cx.reg(Class::B32));
            let group = cx.arith(Opcode::Shr, Ty::U32, &[thread.into(), shift.into()]);
            cx.emit(Op::ShflIdx { dst: lane, src: group, lane: 0.into() });
            let group = cx.arith(Opcode::And, Ty::B32, &[lane.into(), i64::from(modulus - 1).into()]);
            cx.arith(Opcode::MadLo, Ty::S32, &[group.into(), i64::from(unit).into(), base.into()])
        };
        self.once(|entry| &mut entry.warpgroup_addresses, &(unit, divisor, modulus), compute)
    }

    /// The descriptor of what an instruction reads.
    fn descriptor(&mut self, source: &Source, mn: u32, k: u32) -> Reg {
        let [low, hi] = source.descriptor;
        let further = source.operand.start(mn, k, source.bits) >> 4;
        let lo =
            if further == 0 { low } else { self.arith(Opcode::Add, Ty::S32, &[low.into(), i64::from(further).into()]) };
        let dst = self.reg(Class::B64);
        self.emit(Op::Pack { dst, lo, hi });
        dst
    }
}

/// The sums of one row of instructions, column by column: in every copy along N, those of a block of rows of a copy along M.
fn sums_of_row(sums: &[Reg], shape: Shape, row: u32, rows_of_copy: u32) -> Vec<Reg> {
    let of_copy = sums.len() / shape.num_copies();
    let columns = shape.copies().dims()[1] as usize;
    let (m_copy, row, of_row) = (row / rows_of_copy, row % rows_of_copy, of_copy / rows_of_copy as usize);
    let first = |n_copy: usize| (m_copy as usize * columns + n_copy) * of_copy + row as usize * of_row;
    (0..columns).flat_map(|n_copy| sums[first(n_copy)..first(n_copy) + of_row].iter().copied()).collect()
}
