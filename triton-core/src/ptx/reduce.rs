//! Lowering of reductions: within a thread, and between the lanes of a warp.
//!
//! Every step combines along one bit of the index, in the order of the operation: pairs of registers, or
//! pairs of lanes by butterfly shuffles, after which both lanes hold the result. The element with the bit clear
//! comes first, so that all threads compute the same; between lanes that takes a selection, unless the combination commutes.
//! Nothing is reduced between warps here: [`crate::passes::split`] has moved the warps' parts into one thread before.

use super::lower::Lower;
use super::{Class, Cmp, Op, Opcode, Reg, Ty};
use crate::ir::{Block, InstData};
use crate::ops::kinds::BinaryKind;
use crate::ops::{self, BitOrder};

impl Lower<'_> {
    /// The registers of each result.
    pub fn reduce(&mut self, inst: &InstData, axis: usize, order: BitOrder) -> Result<Vec<Vec<Reg>>, String> {
        let region = inst.regions[0];
        let shape = self.func.ty(inst.args[0]).shape;
        let layout = self.func.layout(inst.args[0]).ok_or("a tile without a layout")?.clone();
        let inner: u32 = shape.dims()[axis + 1..].iter().product();
        let bits = order.bits(shape.dims()[axis].trailing_zeros());
        let commutes = self.commutes(region);
        let mut tiles: Vec<Vec<Reg>> = inst.args.iter().map(|&v| self.regs(v).to_vec()).collect();
        let mut live: Vec<usize> = (0..layout.registers()).collect();
        for bit in bits {
            let column = inner << bit;
            let bit_of = |columns: &[u32]| {
                let mut moved = columns.iter().enumerate().filter(|&(_, c)| c & column != 0);
                moved.next().filter(|&(_, &c)| c == column && moved.next().is_none()).map(|(i, _)| i)
            };
            if let Some(bit) = bit_of(&layout.reg) {
                live.retain(|r| r >> bit & 1 == 0);
                for &r in &live {
                    let (first, second) = (at(&tiles, r), at(&tiles, r | 1 << bit));
                    let both = self.combine(region, &first, &second)?;
                    put(&mut tiles, r, both);
                }
            } else if let Some(bit) = bit_of(&layout.lane) {
                let mask = 1 << bit;
                let later = if commutes { None } else { Some(self.thread_bit(mask)) };
                for &r in &live {
                    let own = at(&tiles, r);
                    let other: Vec<Reg> = own.iter().map(|&reg| self.of_lane(reg, mask)).collect();
                    let both = self.combine_sides(region, &own, &other, later)?;
                    put(&mut tiles, r, both);
                }
            } else {
                return Err(format!("a reduction along bit {bit} of an index, which no register and no lane holds"));
            }
        }
        // What is left stands in the order of the result's registers: the other bits in their old order.
        Ok(tiles.into_iter().map(|tile| live.iter().map(|&r| tile[r]).collect()).collect())
    }

    /// Two elements of each value, combined by the region.
    fn combine(&mut self, region: Block, first: &[Reg], second: &[Reg]) -> Result<Vec<Reg>, String> {
        let params = self.func.blocks[region].params.clone();
        for (&param, &reg) in params.iter().zip(first.iter().chain(second)) {
            self.set(param, vec![reg]);
        }
        self.block(region)?;
        Ok(self.func.yielded(region).iter().map(|&v| self.regs(v)[0]).collect())
    }

    /// The thread's own elements and those of another one; where `later` holds, the other's come first.
    fn combine_sides(
        &mut self,
        region: Block,
        own: &[Reg],
        other: &[Reg],
        later: Option<Reg>,
    ) -> Result<Vec<Reg>, String> {
        let Some(later) = later else { return self.combine(region, own, other) };
        let pick = |cx: &mut Self, a: Reg, b: Reg| match a.class {
            Class::Pred => {
                let elem = crate::types::Elem::Num(crate::types::DType::Bool);
                cx.select(elem, later, a, b)
            }
            Class::B16 | Class::B32 | Class::B64 => cx.selp(super::lower::class_type(a.class), a, b, later),
        };
        let first: Vec<Reg> = own.iter().zip(other).map(|(&a, &b)| pick(self, b, a)).collect();
        let second: Vec<Reg> = own.iter().zip(other).map(|(&a, &b)| pick(self, a, b)).collect();
        self.combine(region, &first, &second)
    }

    /// Whether the region is one commutative operation.
    fn commutes(&self, region: Block) -> bool {
        let params = &self.func.blocks[region].params;
        let insts: Vec<&InstData> = self.func.block(region).map(|(_, inst)| inst).collect();
        let ([first, last], [x, y]) = (&insts[..], &params[..]) else { return false };
        let ops::Op::Binary { kind, a, b } = first.op else { return false };
        let symmetric = match kind {
            BinaryKind::Add
            | BinaryKind::Mul
            | BinaryKind::Min
            | BinaryKind::Max
            | BinaryKind::And
            | BinaryKind::Or
            | BinaryKind::Xor => true,
            BinaryKind::Sub | BinaryKind::Div | BinaryKind::Rem | BinaryKind::Shl | BinaryKind::Shr => false,
        };
        symmetric && (a, b) == (*x, *y) && last.args == first.results
    }

    /// Whether any of these bits of the thread's index is set.
    fn thread_bit(&mut self, mask: u32) -> Reg {
        self.at_entry(|cx| {
            let tid = cx.thread();
            let bits = cx.arith(Opcode::And, Ty::B32, &[tid.into(), i64::from(mask).into()]);
            cx.setp(Cmp::Ne, Ty::U32, bits, 0)
        })
    }

    /// What the lane holds whose index differs in these bits.
    fn of_lane(&mut self, reg: Reg, lanes: u32) -> Reg {
        let words = self.words_of(reg);
        let moved: Vec<Reg> = words
            .into_iter()
            .map(|src| {
                let dst = self.reg(Class::B32);
                self.emit(Op::ShflBfly { dst, src, lanes });
                dst
            })
            .collect();
        self.element_of_words(reg.class, &moved)
    }

    /// A register as words of 32 bits.
    fn words_of(&mut self, reg: Reg) -> Vec<Reg> {
        if reg.class == Class::Pred { vec![self.selp(Ty::B32, 1, 0, reg)] } else { self.parts(reg) }
    }

    fn element_of_words(&mut self, class: Class, words: &[Reg]) -> Reg {
        if class == Class::Pred { self.setp(Cmp::Ne, Ty::U32, words[0], 0) } else { self.whole(class, words) }
    }
}

/// A register's element of each tile.
fn at(tiles: &[Vec<Reg>], register: usize) -> Vec<Reg> {
    tiles.iter().map(|tile| tile[register]).collect()
}

fn put(tiles: &mut [Vec<Reg>], register: usize, regs: Vec<Reg>) {
    tiles.iter_mut().zip(regs).for_each(|(tile, reg)| tile[register] = reg);
}
