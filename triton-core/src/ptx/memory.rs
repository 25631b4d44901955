//! Lowering of addresses and accesses to global memory.
//!
//! One access of a thread covers a run of elements whose addresses allow it ([`axis::vector_width`]), as one to four words.
//! If the mask is not known to be uniform on a run, a branch decides: vectorized accesses, or element by element. Where
//! what is in bounds of a run comes first, which is so at the end of a row, there is one branch for all runs of a thread, and two
//! comparisons a run: of its first element, which guards it, and of its last. Elements are taken out of words, and put into
//! them, in registers.

use super::lower::Lower;
use super::run::{MaskForm, Padding, Run};
use super::{Address, Class, Cmp, Op, Opcode, Operand, Reg, Round, Ty};
use crate::ir::Value;
use crate::types::DType;
use std::ops::Range;

/// Runs of a tile that are accessed together.
struct Group {
    /// The register of the tile with the first element.
    first: usize,
    /// Elements of a run.
    width: usize,
    /// What guards each run.
    guards: Vec<Option<Reg>>,
    /// The mask of all of them.
    mask: Option<Value>,
    /// Holds in the one thread that stores what several hold.
    once: Option<Reg>,
    /// Where the elements go one by one, and where both paths join; `None` if there is one path.
    paths: Option<(u32, u32)>,
}

impl Group {
    /// The first register of each run, and what guards it.
    fn runs(&self) -> impl Iterator<Item = (usize, Option<Reg>)> {
        (self.first..).step_by(self.width).zip(self.guards.iter().copied())
    }
}

impl Lower<'_> {
    /// `ptr + index · size`, the index extended to 64 bits first.
    pub fn offset(&mut self, ptr: Reg, index: Reg, dtype: DType, pointee: DType) -> Reg {
        let size = i64::from(pointee.bytes());
        let (op, ty, index) = match (dtype.is_signed(), dtype.bits()) {
            (_, 64) => (Opcode::MadLo, Ty::S64, index),
            (true, 32) => (Opcode::MadWide, Ty::S32, index),
            (false, 32) => (Opcode::MadWide, Ty::U32, index),
            (true, _) => (Opcode::MadWide, Ty::S32, self.cvt(Round::None, Ty::S32, Ty::S16, index)),
            (false, _) => (Opcode::MadWide, Ty::U32, self.cvt(Round::None, Ty::U32, Ty::U16, index)),
        };
        self.arith(op, ty, &[index.into(), size.into(), ptr.into()])
    }

    pub fn load(&mut self, ptr: Value, mask: Option<Value>, other: Option<Value>) -> Result<Vec<Reg>, String> {
        let mut run = Run::of(self.func, &self.facts, ptr, mask)?;
        if let Some(other) = other {
            run = run.with_padding(&self.facts, other, self.made_by(other));
        }
        let Run { dtype, width, .. } = run;
        let bases = self.regs(ptr).to_vec();
        let mut regs = Vec::new();
        for runs in run.groups(bases.len()) {
            let group = self.enter(run, runs, mask, None)?;
            let mut words = Vec::new();
            for (first, guard) in group.runs() {
                let padding = match (other, run.padding) {
                    (None, _) => None,
                    (Some(other), Padding::Uniform(_)) => Some(vec![self.element(other, first)?; width]),
                    (Some(other), Padding::Any) => Some(self.regs(other)[first..first + width].to_vec()),
                };
                words.push(self.load_words(dtype, run.at(bases[first], 0), width, guard, padding.as_deref()));
            }
            self.cold_path(&group, |cx| {
                for ((first, _), words) in group.runs().zip(&words) {
                    if run.is_by_words() && (dtype.bytes() > 2 || other.is_none()) {
                        cx.cut_or_whole(run, &group, first, |cx, whole| {
                            cx.load_prefix(run, &group, first, (bases[first], words), (other, whole))
                        })?;
                        continue;
                    }
                    let mut elements = Vec::new();
                    for i in first..first + width {
                        let (at, mask) = (run.at(bases[first], i - first), cx.guard_of(&group, i)?);
                        let padding = other.map(|other| cx.element(other, i)).transpose()?;
                        let word = cx.load_words(dtype, at, 1, mask, padding.as_ref().map(std::slice::from_ref));
                        elements.extend(cx.unpack(dtype, 1, &word));
                    }
                    // Both paths join in words, so that nothing waits for the data before the next access is issued.
                    let packed = cx.pack(dtype, &elements);
                    for (&dst, src) in words.iter().zip(packed) {
                        let ty = bits_of(self::words(dtype, width).0);
                        cx.emit(Op::Mov { ty, dst, src: src.into() });
                    }
                }
                Ok(())
            })?;
            regs.extend(words.iter().flat_map(|words| self.unpack(dtype, width, words)));
        }
        Ok(regs)
    }

    /// On a cold path, a run of which a prefix is accessed: by itself, so that the others go whole. The paths exclude each other, as
    /// a second load into a register would wait for the first.
    fn cut_or_whole(
        &mut self,
        run: Run,
        group: &Group,
        first: usize,
        mut access: impl FnMut(&mut Self, Option<Reg>) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some((begin, end)) = self.guard_of(group, first)?.zip(self.guard_of(group, first + run.width - 1)?) else {
            return Ok(());
        };
        let (cut, done) = (self.label(), self.label());
        let whole = self.is_uniform(begin, end);
        self.emit(Op::Bra { label: cut, pred: Some(whole), unless: true, uniform: false });
        self.on_a_branch(|cx| access(cx, Some(end)))?;
        self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: false });
        self.emit(Op::Label { label: cut });
        self.on_a_branch(|cx| access(cx, None))?;
        self.emit(Op::Label { label: done });
        Ok(())
    }

    /// Loads a run into the registers of its words: all of it under a guard, or a prefix. Nothing waits for the data, since nothing
    /// is put together: half a word is extended by 0, which is its padding.
    fn load_prefix(
        &mut self,
        run: Run,
        group: &Group,
        first: usize,
        (base, dsts): (Reg, &[Reg]),
        (other, whole): (Option<Value>, Option<Reg>),
    ) -> Result<(), String> {
        let (ty, count) = words(run.dtype, run.width);
        let per_word = run.width / count;
        for (&dst, e) in dsts.iter().zip((first..).step_by(per_word)) {
            let padding = other.map(|other| self.element(other, e)).transpose()?;
            self.emit(Op::Mov { ty: bits_of(ty), dst, src: padding.map_or(Operand::Int(0), Operand::Reg) });
        }
        if whole.is_some() {
            self.emit_if(whole, Op::Ld { ty, dsts: dsts.to_vec(), address: run.at(base, 0) });
            return Ok(());
        }
        let done = self.label();
        for (&dst, e) in dsts.iter().zip((first..).step_by(per_word)) {
            let address = run.at(base, e - first);
            let (begins, whole) = (self.guard_of(group, e)?, self.guard_of(group, e + per_word - 1)?);
            if per_word == 1 {
                self.emit_if(begins, Op::Ld { ty, dsts: vec![dst], address });
                continue;
            }
            let next = self.label();
            self.emit(Op::Bra { label: next, pred: whole, unless: false, uniform: false });
            self.emit_if(begins, Op::Ld { ty: Ty::U16, dsts: vec![dst], address });
            self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: false });
            self.emit(Op::Label { label: next });
            self.emit(Op::Ld { ty, dsts: vec![dst], address });
        }
        self.emit(Op::Label { label: done });
        Ok(())
    }

    /// The same of a store.
    fn store_prefix(
        &mut self,
        run: Run,
        group: &Group,
        first: usize,
        (base, srcs): (Reg, &[Reg]),
        whole: Option<Reg>,
    ) -> Result<(), String> {
        let (ty, count) = words(run.dtype, run.width);
        let per_word = run.width / count;
        if whole.is_some() {
            self.emit_if(whole, Op::St { ty, srcs: srcs.to_vec(), address: run.at(base, 0) });
            return Ok(());
        }
        for (&src, e) in srcs.iter().zip((first..).step_by(per_word)) {
            let address = run.at(base, e - first);
            let (begins, whole) = (self.guard_of(group, e)?, self.guard_of(group, e + per_word - 1)?);
            self.emit_if(whole, Op::St { ty, srcs: vec![src], address });
            if let (2, Some(begins), Some(whole)) = (per_word, begins, whole) {
                let part = self.arith(Opcode::Not, Ty::Pred, &[whole.into()]);
                let part = self.conjunction(&[begins, part]);
                self.emit_if(Some(part), Op::St { ty: Ty::U16, srcs: vec![src], address });
            }
        }
        Ok(())
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
        let run @ Run { dtype, width, .. } = Run::of(self.func, &self.facts, ptr, mask)?;
        let once = self.store_guard(ptr);
        let (bases, elements) = (self.regs(ptr).to_vec(), self.regs(value).to_vec());
        for runs in run.groups(bases.len()) {
            let group = self.enter(run, runs, mask, once)?;
            for (first, guard) in group.runs() {
                self.store_run(dtype, run.at(bases[first], 0), &elements[first..first + width], guard);
            }
            self.cold_path(&group, |cx| {
                for (first, _) in group.runs() {
                    if run.is_by_words() {
                        let srcs = cx.pack(dtype, &elements[first..first + width]);
                        cx.cut_or_whole(run, &group, first, |cx, whole| {
                            cx.store_prefix(run, &group, first, (bases[first], &srcs), whole)
                        })?;
                        continue;
                    }
                    for i in first..first + width {
                        let (at, mask) = (run.at(bases[first], i - first), cx.guard_of(&group, i)?);
                        cx.store_run(dtype, at, &elements[i..=i], mask);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn store_run(&mut self, dtype: DType, at: Address, elements: &[Reg], guard: Option<Reg>) {
        let srcs = self.pack(dtype, elements);
        self.emit_if(guard, Op::St { ty: words(dtype, elements.len()).0, srcs, address: at });
    }

    /// Begins the accesses of a group of runs. Where a mask may differ on a run, a branch decides for the group: whole runs, or
    /// each element by itself. A warp at the edge of what is accessed takes the second path, and no other.
    fn enter(&mut self, run: Run, runs: Range<usize>, mask: Option<Value>, once: Option<Reg>) -> Result<Group, String> {
        let Run { width, mask: form, .. } = run;
        let firsts = runs.clone().step_by(width);
        let mut group = Group { first: runs.start, width, guards: vec![once; firsts.len()], mask, once, paths: None };
        let Some(mask) = mask else { return Ok(group) };
        let mut whole = Vec::new();
        for (first, guard) in firsts.zip(&mut group.guards) {
            match form {
                MaskForm::Uniform => *guard = Some(self.guard(mask, once, first)?),
                MaskForm::Prefix => {
                    let (begin, end) = (self.guard(mask, once, first)?, self.guard(mask, once, first + width - 1)?);
                    *guard = Some(begin);
                    whole.push(self.is_uniform(begin, end));
                    if let Padding::Uniform(Some(cond)) = run.padding {
                        let (begin, end) = (self.element(cond, first)?, self.element(cond, first + width - 1)?);
                        whole.push(self.is_uniform(begin, end));
                    }
                }
                MaskForm::Any => {
                    *guard = None;
                    for r in first..first + width {
                        whole.push(self.guard(mask, once, r)?);
                    }
                }
            }
        }
        if whole.is_empty() {
            return Ok(group);
        }
        let whole = self.conjunction(&whole);
        let (apart, done) = (self.label(), self.label());
        self.emit(Op::Bra { label: apart, pred: Some(whole), unless: true, uniform: false });
        group.paths = Some((apart, done));
        Ok(group)
    }

    /// What guards the access of one element of a group.
    fn guard_of(&mut self, group: &Group, register: usize) -> Result<Option<Reg>, String> {
        group.mask.map_or(Ok(group.once), |mask| self.guard(mask, group.once, register).map(Some))
    }

    /// The mask at one element, in the thread that stores it.
    fn guard(&mut self, mask: Value, once: Option<Reg>, register: usize) -> Result<Reg, String> {
        let mask = self.element(mask, register)?;
        Ok(once.map_or(mask, |once| self.conjunction(&[mask, once])))
    }

    /// Whether a mask that is a prefix of a run is all of it or nothing: not so if it begins inside and ends outside.
    fn is_uniform(&mut self, begin: Reg, end: Reg) -> Reg {
        let outside = self.arith(Opcode::Not, Ty::Pred, &[end.into()]);
        let differs = self.conjunction(&[begin, outside]);
        self.arith(Opcode::Not, Ty::Pred, &[differs.into()])
    }

    /// The path on which the elements of a group go one by one, if it has one.
    fn cold_path(
        &mut self,
        group: &Group,
        elements: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some((apart, done)) = group.paths else { return Ok(()) };
        self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: false });
        self.emit(Op::Label { label: apart });
        self.on_cold_path(elements)?;
        self.emit(Op::Label { label: done });
        Ok(())
    }

    /// Whether all predicates hold.
    pub fn conjunction(&mut self, preds: &[Reg]) -> Reg {
        let (&first, rest) = preds.split_first().unwrap_or((&Reg { class: Class::Pred, index: 0 }, &[]));
        rest.iter().fold(first, |all, &pred| self.arith(Opcode::And, Ty::Pred, &[all.into(), pred.into()]))
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
