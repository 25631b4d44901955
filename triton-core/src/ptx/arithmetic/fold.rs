//! Lowering of folds along an axis: within a thread, and between the lanes of a warp.
//!
//! Every step combines along one bit of the index, in the order of the operation; in a reduction, after the copies of a base tile along the
//! axis, register by register. In a reduction these are pairs of registers, or
//! pairs of lanes by butterfly shuffles, after which both lanes hold the result. The element with the bit clear
//! comes first, so that all threads compute the same; between lanes that takes a selection, unless the combination commutes.
//!
//! In a scan an element with the bit set is combined with the last one of the half before it: a register of the same thread, or of
//! one lane, which all that need it read by one shuffle. What is in a lane with the bit clear is selected as it was.
//!
//! Nothing is combined between warps here: [`crate::passes::layouts::split`] has moved the warps' parts, or their totals, into each thread
//! before.

use crate::hash::WordMap;
use crate::ir::{Block, InstData};
use crate::ops::fold::Part;
use crate::ops::kinds::BinaryKind;
use crate::ops::{self, BitOrder, FoldKind};
use crate::ptx::arithmetic::thread::Threads;
use crate::ptx::code::emitter::class_type;
use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Opcode, Operand, Reg, Ty};
use crate::types::{DType, Elem};

impl Lower<'_> {
    /// The registers of each result.
    pub fn fold(
        &mut self,
        inst: &InstData,
        kind: FoldKind,
        axis: usize,
        order: BitOrder,
    ) -> Result<Vec<Vec<Reg>>, String> {
        match kind {
            FoldKind::Reduce => self.reduce(inst, axis, order),
            FoldKind::Scan | FoldKind::ScanReverse => {
                let scan = Scan::new(self, inst, kind, axis)?;
                match kind.part(order, 1 << scan.holders.len()) {
                    Some(Part::All) => self.scan_within(inst, scan, None),
                    Some(Part::Within(block)) => self.scan_within(inst, scan, Some(block)),
                    Some(Part::Across(block)) => self.scan_across(inst, scan, block as usize),
                    None => Err("a scan of no part of an axis".into()),
                }
            }
        }
    }

    fn reduce(&mut self, inst: &InstData, axis: usize, order: BitOrder) -> Result<Vec<Vec<Reg>>, String> {
        let region = inst.regions[0];
        let shape = self.func.ty(inst.args[0]).shape;
        let layout = self.func.layout(inst.args[0]).ok_or("a tile without a layout")?.clone();
        let base = shape.base();
        let inner: u32 = base.dims()[axis + 1..].iter().product();
        let bits = order.bits(base.dims()[axis].trailing_zeros());
        let commutes = self.commutes(region);
        let mut tiles: Vec<Vec<Reg>> = inst.args.iter().map(|&v| self.regs(v).to_vec()).collect();
        let mut live: Vec<usize> = (0..layout.registers() * shape.num_copies()).collect();
        let digits = shape.copies().dims()[axis] as usize;
        let apart = layout.registers() * shape.copies().dims()[axis + 1..].iter().product::<u32>() as usize;
        live.retain(|r| (r / apart).is_multiple_of(digits));
        for digit in 1..digits {
            for &r in &live {
                let (first, second) = (at(&tiles, r), at(&tiles, r + digit * apart));
                let both = self.combine(region, &first, &second)?;
                put(&mut tiles, r, both);
            }
        }
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
        // What is left stands in the order of the result's registers: the other copies and bits in their old order.
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
        let (first, second) = (self.either(later, other, own), self.either(later, own, other));
        self.combine(region, &first, &second)
    }

    /// The first registers where the condition holds, else the second ones.
    fn either(&mut self, cond: Reg, a: &[Reg], b: &[Reg]) -> Vec<Reg> {
        let mut pick = |a: Reg, b: Reg| match a.class {
            Class::Pred => self.select(Elem::Num(DType::Bool), cond, a, b),
            Class::B16 | Class::B32 | Class::B64 => self.selp(class_type(a.class), a, b, cond),
        };
        a.iter().zip(b).map(|(&a, &b)| if a == b { a } else { pick(a, b) }).collect()
    }

    /// Whether the region is a commutative operation for each value, apart from the others.
    fn commutes(&self, region: Block) -> bool {
        let params = &self.func.blocks[region].params;
        let values = params.len() / 2;
        let insts: Vec<&InstData> = self.func.block(region).map(|(_, inst)| inst).collect();
        let Some((last, insts)) = insts.split_last().filter(|(_, insts)| insts.len() == values) else { return false };
        insts.iter().enumerate().all(|(k, inst)| {
            let ops::Op::Binary { kind, a, b } = inst.op else { return false };
            let symmetric = match kind {
                BinaryKind::Add
                | BinaryKind::Mul
                | BinaryKind::MulHi
                | BinaryKind::Min
                | BinaryKind::Max
                | BinaryKind::And
                | BinaryKind::Or
                | BinaryKind::Xor => true,
                BinaryKind::Sub | BinaryKind::Div | BinaryKind::Rem | BinaryKind::Shl | BinaryKind::Shr => false,
            };
            symmetric && (a, b) == (params[k], params[values + k]) && last.args.get(k) == inst.results.first()
        })
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
        self.shuffled(reg, |dst, src| Op::ShflBfly { dst, src, lanes })
    }

    /// What another lane holds, by this instruction for each word.
    fn shuffled(&mut self, reg: Reg, shuffle: impl Fn(Reg, Reg) -> Op) -> Reg {
        let words = self.words_of(reg);
        let moved: Vec<Reg> = words
            .into_iter()
            .map(|src| {
                let dst = self.reg(Class::B32);
                self.emit(shuffle(dst, src));
                dst
            })
            .collect();
        self.element_of_words(reg.class, &moved)
    }

    /// A scan whose elements are combined within each warp, along the lowest bits or all of them. Of blocks of `1 << block` elements
    /// the totals follow.
    fn scan_within(&mut self, inst: &InstData, mut scan: Scan, block: Option<u32>) -> Result<Vec<Vec<Reg>>, String> {
        let region = inst.regions[0];
        let mut tiles: Vec<Vec<Reg>> = inst.args.iter().map(|&v| self.regs(v).to_vec()).collect();
        let (registers, reverse) = (0..tiles[0].len(), scan.reverse);
        // The bits of registers and of lanes that are below the current one.
        let (mut low, mut low_lanes) = (0, 0);
        for bit in 0..block.map_or(scan.holders.len(), |block| block as usize) {
            let before = tiles.clone();
            let mut known: WordMap<usize, Vec<Reg>> = WordMap::default();
            let (own_bit, own_lane) = match scan.holders[bit] {
                Holder::Register(mask) => (mask, 0),
                Holder::Thread(mask) if mask < 32 => (0, mask),
                Holder::Thread(_) => return Err(format!("a scan along bit {bit} of an index, which warps hold")),
            };
            for r in registers.clone().filter(|&r| own_bit == 0 || (r & own_bit == 0) == reverse) {
                let first = scan.last(r ^ own_bit, low);
                let other = match known.get(&first) {
                    Some(other) => other.clone(),
                    None => scan.read(self, at(&before, first), [low_lanes, own_lane]),
                };
                let own = at(&before, r);
                let both = self.combine(region, &other, &own)?;
                let new = if own_lane == 0 { both } else { scan.later(self, own_lane, &both, &own) };
                put(&mut tiles, r, new);
                known.insert(first, other);
            }
            (low, low_lanes) = (low | own_bit, low_lanes | own_lane);
        }
        if block.is_some() {
            let ends: Vec<usize> = registers.filter(|&r| scan.last(r, low) == r).collect();
            let totals: Vec<Vec<Reg>> =
                ends.into_iter().map(|r| scan.read(self, at(&tiles, r), [low_lanes, 0])).collect();
            for value in 0..tiles.len() {
                tiles.push(totals.iter().map(|total| total[value]).collect());
            }
        }
        Ok(tiles)
    }

    /// A scan of blocks of `1 << block` elements, of which every thread has all totals.
    fn scan_across(&mut self, inst: &InstData, mut scan: Scan, block: usize) -> Result<Vec<Vec<Reg>>, String> {
        let region = inst.regions[0];
        let mut tiles: Vec<Vec<Reg>> = inst.args.iter().map(|&v| self.regs(v).to_vec()).collect();
        let totals = tiles.split_off(self.func.yielded(region).len());
        let holders = scan.holders.split_off(block);
        let count = 1 << holders.len();
        // Of each line along the axis, the totals from where the scan begins.
        let logical = |c: usize| if scan.reverse { count - 1 - c } else { c };
        let lines = 0..totals[0].len() / count;
        let mut lines: Vec<Vec<Vec<Reg>>> =
            lines.map(|line| (0..count).map(|c| at(&totals, line * count + logical(c))).collect()).collect();
        for (bit, &holder) in holders.iter().enumerate() {
            let before = tiles.clone();
            let mut known: WordMap<(usize, usize), Vec<Reg>> = WordMap::default();
            for r in 0..tiles[0].len() {
                let own = at(&before, r);
                let condition = match holder {
                    Holder::Register(mask) if (r & mask == 0) != scan.reverse => continue,
                    Holder::Register(_) => None,
                    Holder::Thread(mask) => Some(mask),
                };
                let line = scan.line(r);
                let of_registers = holders[bit + 1..].iter().fold(0, |mask, h| match *h {
                    Holder::Register(m) => mask | m,
                    Holder::Thread(_) => mask,
                });
                let key = (line, r & of_registers);
                let other = match known.get(&key) {
                    Some(other) => other.clone(),
                    None => scan.total(self, &lines[line], &holders, bit, r),
                };
                let both = self.combine(region, &other, &own)?;
                let new = match condition {
                    None => both,
                    Some(mask) => scan.later(self, mask, &both, &own),
                };
                put(&mut tiles, r, new);
                known.insert(key, other);
            }
            // The totals of twice as many elements, at the last block of them.
            for line in lines.iter_mut().filter(|_| bit + 1 < holders.len()) {
                for last in (0..count).filter(|c| (c + 1) % (2 << bit) == 0) {
                    line[last] = self.combine(region, &line[last - (1 << bit)], &line[last])?;
                }
            }
        }
        Ok(tiles)
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

/// What holds a bit of an index along the axis: a bit of the number of the register, or of the thread, as a mask.
#[derive(Clone, Copy)]
enum Holder {
    Register(usize),
    Thread(u32),
}

/// Where the elements of a scan are.
struct Scan {
    reverse: bool,
    /// Of each bit of an index along the axis.
    holders: Vec<Holder>,
    /// The bits of the number of a register that other axes have, in their order.
    others: Vec<usize>,
    /// Registers of a copy of the base tile.
    registers: usize,
    threads: Threads,
}

impl Scan {
    fn new(cx: &Lower<'_>, inst: &InstData, kind: FoldKind, axis: usize) -> Result<Scan, String> {
        let shape = cx.func.ty(inst.args[0]).shape.base();
        let layout = cx.func.layout(inst.args[0]).ok_or("a tile without a layout")?;
        let inner: u32 = shape.dims()[axis + 1..].iter().product();
        let (extent, field) = (shape.dims()[axis], (shape.dims()[axis] - 1) * inner);
        let holder = |bit: u32| {
            let column = inner << bit;
            let alone = layout.columns().filter(|c| c & column != 0).eq([column]);
            let of = |columns: &[u32]| columns.iter().position(|&c| c == column).filter(|_| alone);
            let thread = || of(&layout.lane).or(of(&layout.warp).map(|i| i + 5)).map(|i| Holder::Thread(1 << i));
            let held = of(&layout.reg).map(|i| Holder::Register(1 << i)).or_else(thread);
            held.ok_or_else(|| format!("a scan along bit {bit} of an index, which nothing holds alone"))
        };
        let others = layout.reg.iter().enumerate().filter(|&(_, c)| c & field == 0).map(|(i, _)| 1 << i).collect();
        let holders = (0..extent.trailing_zeros()).map(holder).collect::<Result<_, _>>()?;
        let registers = layout.registers();
        Ok(Scan { reverse: kind.is_reverse(), holders, others, registers, threads: Threads::default() })
    }

    /// The last one of the registers that differ in these bits.
    fn last(&self, register: usize, bits: usize) -> usize {
        if self.reverse { register & !bits } else { register | bits }
    }

    /// The elements of the lane that is the last one of those which differ in the first bits, of the half that the second bit is clear
    /// in.
    fn read(&mut self, cx: &mut Lower<'_>, regs: Vec<Reg>, [low, own]: [u32; 2]) -> Vec<Reg> {
        if low | own == 0 {
            return regs;
        }
        let kept: Vec<u32> = (0..5).map(|i| (1 << i) & !(low | own)).collect();
        let set = i64::from(if self.reverse { own } else { low });
        let lane = match self.threads.linear(cx, &kept) {
            None => Operand::Int(set),
            Some(lane) if set == 0 => lane.into(),
            Some(lane) => cx.arith(Opcode::Or, Ty::B32, &[lane.into(), set.into()]).into(),
        };
        regs.into_iter().map(|reg| cx.shuffled(reg, |dst, src| Op::ShflIdx { dst, src, lane })).collect()
    }

    /// The first registers in the threads whose elements are in the later half by this bit of the thread, else the second ones.
    fn later(&mut self, cx: &mut Lower<'_>, bit: u32, a: &[Reg], b: &[Reg]) -> Vec<Reg> {
        let set = self.threads.odd(cx, bit);
        if self.reverse { cx.either(set, b, a) } else { cx.either(set, a, b) }
    }

    /// Which line along the axis a register's element is of.
    fn line(&self, register: usize) -> usize {
        let copy = (register / self.registers) << self.others.len();
        self.others.iter().enumerate().fold(copy, |line, (i, &bit)| line | usize::from(register & bit != 0) << i)
    }

    /// Of the totals of a line, the one before the half of `1 << bit` blocks that a register's element is in.
    fn total(
        &mut self,
        cx: &mut Lower<'_>,
        line: &[Vec<Reg>],
        holders: &[Holder],
        bit: usize,
        register: usize,
    ) -> Vec<Reg> {
        // Those that the bits above leave, lowest bit first.
        let mut left: Vec<Vec<Reg>> = line.iter().skip((1 << bit) - 1).step_by(2 << bit).cloned().collect();
        for &holder in &holders[bit + 1..] {
            let pairs = left.chunks(2);
            left = match holder {
                Holder::Register(mask) => {
                    let later = (register & mask != 0) != self.reverse;
                    pairs.map(|pair| pair[usize::from(later)].clone()).collect()
                }
                Holder::Thread(mask) => pairs.map(|pair| self.later(cx, mask, &pair[1], &pair[0])).collect(),
            };
        }
        left.swap_remove(0)
    }
}
