//! Lowering of addresses and accesses to global memory.
//!
//! One access of a thread covers a run of elements whose addresses allow it ([`axis::vector_width`]), as one to four words.
//! If the mask is not known to be uniform on a run, a branch decides: vectorized accesses, or element by element. Where
//! what is in bounds of a run comes first, which is so at the end of a row, there is one branch for all runs of a thread, and two
//! comparisons a run: of its first element, which guards it, and of its last. Elements are taken out of words, and put into
//! them, in registers.

use super::lower::Lower;
use super::{Address, Class, Cmp, Op, Opcode, Operand, Reg, Round, Ty};
use crate::analysis::axis;
use crate::ir::Value;
use crate::layout::Layout;
use crate::types::{DType, Elem};
use std::ops::Range;

/// How a tile of pointers is accessed: runs of `width` elements, and what is known of the mask on a run.
#[derive(Clone, Copy)]
struct Run {
    dtype: DType,
    width: usize,
    mask: MaskForm,
}

/// What is known of a mask on the elements of one run.
#[derive(Clone, Copy, PartialEq)]
enum MaskForm {
    /// It is the same for all of them, or there is none.
    Uniform,
    /// Those for which it holds come first: whether it is uniform, its first and its last element tell.
    Prefix,
    /// Nothing.
    Any,
}

impl Run {
    /// The `index`th element from an address on: a run is contiguous.
    fn at(&self, base: Reg, index: usize) -> Address {
        Address { base, offset: index as i32 * self.dtype.bytes() as i32 }
    }

    /// The registers of a tile in groups whose runs share a branch.
    fn groups(&self, registers: usize) -> impl Iterator<Item = Range<usize>> {
        let size = if self.mask == MaskForm::Prefix { registers } else { self.width };
        (0..registers).step_by(size.max(1)).map(move |first| first..first + size)
    }
}

/// Runs of a tile that are accessed together.
struct Group {
    /// The register of the tile with the first element.
    first: usize,
    /// Elements of a run.
    width: usize,
    /// What guards each run.
    guards: Vec<Option<Reg>>,
    /// The mask of each element, where they may go one by one.
    masks: Vec<Reg>,
    /// Where the elements go one by one, and where both paths join; `None` if there is one path.
    paths: Option<(u32, u32)>,
}

impl Group {
    /// The first register of each run, and what guards it.
    fn runs(&self) -> impl Iterator<Item = (usize, Option<Reg>)> {
        (self.first..).step_by(self.width).zip(self.guards.iter().copied())
    }

    /// The mask of the element in this register of the tile.
    fn mask(&self, register: usize) -> Reg {
        self.masks[register - self.first]
    }
}

impl Lower<'_> {
    /// `ptr + index · size`, the index extended to 64 bits first.
    pub fn offset(&mut self, ptr: Value, index: Value) -> Result<Vec<Reg>, String> {
        let Elem::Ptr { pointee, .. } = self.func.ty(ptr).elem else { return Err(format!("{ptr} is not a pointer")) };
        let size = i64::from(pointee.bytes());
        let dtype = self.dtype(index)?;
        let pairs: Vec<_> = self.regs(ptr).iter().copied().zip(self.regs(index).iter().copied()).collect();
        let mut regs = Vec::new();
        for (ptr, index) in pairs {
            let (op, ty, index) = match (dtype.is_signed(), dtype.bits()) {
                (_, 64) => (Opcode::MadLo, Ty::S64, index),
                (true, 32) => (Opcode::MadWide, Ty::S32, index),
                (false, 32) => (Opcode::MadWide, Ty::U32, index),
                (true, _) => (Opcode::MadWide, Ty::S32, self.cvt(Round::None, Ty::S32, Ty::S16, index)),
                (false, _) => (Opcode::MadWide, Ty::U32, self.cvt(Round::None, Ty::U32, Ty::U16, index)),
            };
            regs.push(self.arith(op, ty, &[index.into(), size.into(), ptr.into()]));
        }
        Ok(regs)
    }

    pub fn load(&mut self, ptr: Value, mask: Option<Value>, other: Option<Value>) -> Result<Vec<Reg>, String> {
        let run @ Run { dtype, width, .. } = self.run(ptr, mask)?;
        let bases = self.regs(ptr).to_vec();
        let [masks, others] = [mask, other].map(|v| v.map(|v| self.regs(v).to_vec()));
        let others = |first: usize, count: usize| others.as_ref().map(|others| &others[first..first + count]);
        let mut regs = Vec::new();
        for runs in run.groups(bases.len()) {
            let group = self.enter(run, runs, masks.as_deref(), None);
            let whole = |cx: &mut Self, (first, guard): (usize, Option<Reg>)| {
                cx.load_words(dtype, run.at(bases[first], 0), width, guard, others(first, width))
            };
            let words: Vec<Vec<Reg>> = group.runs().map(|run| whole(self, run)).collect();
            if let Some((apart, done)) = group.paths {
                self.other_path(apart, done);
                for ((first, _), words) in group.runs().zip(&words) {
                    let mut elements = Vec::new();
                    for i in first..first + width {
                        let at = run.at(bases[first], i - first);
                        let word = self.load_words(dtype, at, 1, Some(group.mask(i)), others(i, 1));
                        elements.extend(self.unpack(dtype, 1, &word));
                    }
                    // Both paths join in words, so that nothing waits for the data before the next access is issued.
                    let packed = self.pack(dtype, &elements);
                    for (&dst, src) in words.iter().zip(packed) {
                        let ty = bits_of(self::words(dtype, width).0);
                        self.emit(Op::Mov { ty, dst, src: src.into() });
                    }
                }
                self.emit(Op::Label { label: done });
            }
            regs.extend(words.iter().flat_map(|words| self.unpack(dtype, width, words)));
        }
        Ok(regs)
    }

    /// One access: the words of `count` elements if the guard holds, else of `other`, or 0.
    fn load_words(
        &mut self,
        dtype: DType,
        at: Address,
        count: usize,
        guard: Option<Reg>,
        other: Option<&[Reg]>,
    ) -> Vec<Reg> {
        let (ty, words) = words(dtype, count);
        let dsts: Vec<Reg> = match (guard, other) {
            (None, _) => (0..words).map(|_| self.reg(super::lower::class_of(ty))).collect(),
            // Masked-off elements keep the registers' values.
            (Some(_), None) => (0..words).map(|_| self.mov(bits_of(ty), 0)).collect(),
            (Some(_), Some(other)) => {
                let packed = self.pack(dtype, other);
                // A copy: the value itself may be needed again.
                packed.into_iter().map(|word| self.mov(bits_of(ty), word)).collect()
            }
        };
        self.emit_if(guard, Op::Ld { ty, dsts: dsts.clone(), address: at });
        dsts
    }

    pub fn store(&mut self, ptr: Value, value: Value, mask: Option<Value>) -> Result<(), String> {
        let run @ Run { dtype, width, .. } = self.run(ptr, mask)?;
        let once = self.store_guard(ptr);
        let (bases, elements) = (self.regs(ptr).to_vec(), self.regs(value).to_vec());
        let masks = mask.map(|m| self.regs(m).to_vec());
        for runs in run.groups(bases.len()) {
            let group = self.enter(run, runs, masks.as_deref(), once);
            for (first, guard) in group.runs() {
                self.store_run(dtype, run.at(bases[first], 0), &elements[first..first + width], guard);
            }
            if let Some((apart, done)) = group.paths {
                self.other_path(apart, done);
                for (first, _) in group.runs() {
                    for i in first..first + width {
                        let at = run.at(bases[first], i - first);
                        self.store_run(dtype, at, &elements[i..=i], Some(group.mask(i)));
                    }
                }
                self.emit(Op::Label { label: done });
            }
        }
        Ok(())
    }

    fn store_run(&mut self, dtype: DType, at: Address, elements: &[Reg], guard: Option<Reg>) {
        let srcs = self.pack(dtype, elements);
        self.emit_if(guard, Op::St { ty: words(dtype, elements.len()).0, srcs, address: at });
    }

    /// Begins the accesses of a group of runs. Where a mask may differ on a run, a branch decides for the group: whole runs, or
    /// each element by itself. A warp at the edge of what is accessed takes the second path, and no other.
    fn enter(&mut self, run: Run, runs: Range<usize>, masks: Option<&[Reg]>, once: Option<Reg>) -> Group {
        let width = run.width;
        let (first, count) = (runs.start, runs.len() / width);
        let mut group = Group { first, width, guards: vec![once; count], masks: Vec::new(), paths: None };
        let Some(masks) = masks else { return group };
        let step = if run.mask == MaskForm::Uniform { width } else { 1 };
        let masks = masks[runs].iter().step_by(step);
        group.masks = masks.map(|&mask| once.map_or(mask, |once| self.conjunction(&[mask, once]))).collect();
        let whole = match run.mask {
            MaskForm::Uniform => {
                group.guards = group.masks.iter().copied().map(Some).collect();
                return group;
            }
            MaskForm::Prefix => {
                group.guards = group.masks.iter().step_by(width).copied().map(Some).collect();
                let whole: Vec<Reg> = group.masks.chunks(width).map(|run| self.is_uniform(run)).collect();
                self.conjunction(&whole)
            }
            MaskForm::Any => {
                group.guards = vec![None; count];
                self.conjunction(&group.masks)
            }
        };
        let (apart, done) = (self.label(), self.label());
        self.emit(Op::Bra { label: apart, pred: Some(whole), unless: true, uniform: false });
        group.paths = Some((apart, done));
        group
    }

    /// Whether a mask that is a prefix of a run is all of it or nothing: not so if it begins inside and ends outside.
    fn is_uniform(&mut self, prefix: &[Reg]) -> Reg {
        let outside = self.arith(Opcode::Not, Ty::Pred, &[prefix[prefix.len() - 1].into()]);
        let differs = self.conjunction(&[prefix[0], outside]);
        self.arith(Opcode::Not, Ty::Pred, &[differs.into()])
    }

    /// Ends the path of whole runs, and begins the other one.
    fn other_path(&mut self, apart: u32, done: u32) {
        self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: false });
        self.emit(Op::Label { label: apart });
    }

    /// Whether all predicates hold.
    pub fn conjunction(&mut self, preds: &[Reg]) -> Reg {
        let (&first, rest) = preds.split_first().unwrap_or((&Reg { class: Class::Pred, index: 0 }, &[]));
        rest.iter().fold(first, |all, &pred| self.arith(Opcode::And, Ty::Pred, &[all.into(), pred.into()]))
    }

    /// How a tile of pointers is accessed.
    fn run(&self, ptr: Value, mask: Option<Value>) -> Result<Run, String> {
        let Elem::Ptr { pointee, .. } = self.func.ty(ptr).elem else { return Err(format!("{ptr} is not a pointer")) };
        let layout = self.func.layout(ptr).map_or(1, Layout::vector);
        let width = axis::vector_width(self.func, &self.facts, ptr).min(layout.into());
        let mask = match mask.map(|m| self.facts[m]) {
            Some(facts) if facts.constancy < width && facts.prefix < width => MaskForm::Any,
            Some(facts) if facts.constancy < width => MaskForm::Prefix,
            Some(_) | None => MaskForm::Uniform,
        };
        Ok(Run { dtype: pointee, width: width as usize, mask })
    }

    /// The words of a run of elements, from registers that hold one element each.
    fn pack(&mut self, dtype: DType, elements: &[Reg]) -> Vec<Reg> {
        match (dtype.bytes(), elements) {
            (1, _) => {
                let bytes: Vec<Reg> = elements.iter().map(|&e| self.byte(dtype, e)).collect();
                if bytes.len() == 1 {
                    return bytes;
                }
                let halves: Vec<Reg> = bytes
                    .chunks(2)
                    .map(|pair| {
                        let low = self.arith(Opcode::And, Ty::B16, &[pair[0].into(), 255.into()]);
                        let high = self.arith(Opcode::Shl, Ty::B16, &[pair[1].into(), 8.into()]);
                        self.arith(Opcode::Or, Ty::B16, &[low.into(), high.into()])
                    })
                    .collect();
                self.pack_halves(&halves)
            }
            (2, _) => self.pack_halves(elements),
            (_, _) => elements.to_vec(),
        }
    }

    fn pack_halves(&mut self, halves: &[Reg]) -> Vec<Reg> {
        if halves.len() == 1 {
            return halves.to_vec();
        }
        let pairs = halves.chunks(2).map(|pair| {
            let dst = self.reg(Class::B32);
            self.emit(Op::Pack { dst, lo: pair[0], hi: pair[1] });
            dst
        });
        pairs.collect()
    }

    /// A `bool` as a byte; an 8-bit integer is one already.
    fn byte(&mut self, dtype: DType, element: Reg) -> Reg {
        if dtype == DType::Bool { self.selp(Ty::B16, 1, 0, element) } else { element }
    }

    fn unpack(&mut self, dtype: DType, count: usize, words: &[Reg]) -> Vec<Reg> {
        match (dtype.bytes(), count) {
            (1, 1) => vec![self.element_of_byte(dtype, words[0])],
            (1, _) => {
                let mut elements = Vec::new();
                for half in self.unpack_halves(count / 2, words) {
                    // A shift of a signed half extends the upper byte, a conversion the lower one.
                    let (byte, wide) = if dtype == DType::I8 { (Ty::S8, Ty::S16) } else { (Ty::U8, Ty::U16) };
                    let low = self.cvt(Round::None, wide, byte, half);
                    let high = self.arith(Opcode::Shr, wide, &[half.into(), 8.into()]);
                    elements.extend([self.element_of_byte(dtype, low), self.element_of_byte(dtype, high)]);
                }
                elements
            }
            (2, _) => self.unpack_halves(count, words),
            (_, _) => words.to_vec(),
        }
    }

    fn unpack_halves(&mut self, count: usize, words: &[Reg]) -> Vec<Reg> {
        if count == 1 {
            return words.to_vec();
        }
        let mut halves = Vec::new();
        for &src in words {
            let (lo, hi) = (self.reg(Class::B16), self.reg(Class::B16));
            self.emit(Op::Unpack { lo, hi, src });
            halves.extend([lo, hi]);
        }
        halves
    }

    /// An element from the byte it is in memory, already extended to 16 bits.
    fn element_of_byte(&mut self, dtype: DType, byte: Reg) -> Reg {
        if dtype == DType::Bool { self.setp(Cmp::Ne, Ty::U16, byte, Operand::Int(0)) } else { byte }
    }
}

/// How a run of elements is accessed: the type of a word, and how many.
fn words(dtype: DType, count: usize) -> (Ty, usize) {
    match (dtype.bytes() as usize * count, dtype.bytes()) {
        (1, _) if dtype == DType::I8 => (Ty::S8, 1),
        (1, _) => (Ty::U8, 1),
        (2, _) => (Ty::B16, 1),
        (bytes, 8) => (Ty::B64, bytes / 8),
        (bytes, _) => (Ty::B32, bytes / 4),
    }
}

/// The type with which a register of a word is moved.
fn bits_of(word: Ty) -> Ty {
    match word {
        Ty::S8 | Ty::U8 => Ty::B16,
        Ty::Pred
        | Ty::B8
        | Ty::B16
        | Ty::U16
        | Ty::S16
        | Ty::B32
        | Ty::U32
        | Ty::S32
        | Ty::B64
        | Ty::U64
        | Ty::S64
        | Ty::F16
        | Ty::BF16
        | Ty::F32
        | Ty::F64 => word,
    }
}
