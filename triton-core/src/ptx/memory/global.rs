//! Lowering of addresses, and of accesses to global memory through pointers (those to views: [`crate::ptx::memory::view`]).
//!
//! One access of a thread covers a run of elements whose addresses allow it ([`axis::vector_width`]), as one to four words.
//! If the mask is not known to be uniform on a run, a branch decides: vectorized accesses, or element by element. Where
//! what is in bounds of a run comes first, which is so at the end of a row, one comparison a row decides for all runs of a thread.
//! Elements are taken out of words, and put into them, in registers.

use crate::ir::Value;
use crate::ops::{self, Location};
use crate::ptx::lower::Lower;
use crate::ptx::lower::run::{MaskForm, Padding, Run};
use crate::ptx::{Address, Class, Cmp, Op, Opcode, Operand, Reg, Round, Ty};
use crate::types::DType;
use std::ops::Range;

/// Runs of a tile that are accessed together.
struct Group {
    /// The register of the tile with the first element.
    first: usize,
    /// Elements of a run.
    width: usize,
    /// How many runs.
    count: usize,
    /// The mask of all of them.
    mask: Option<Value>,
    /// Holds in the one thread that stores what several hold.
    once: Option<Reg>,
}

/// A way to access the runs of a group.
#[derive(Clone, Copy)]
enum Path<'a> {
    /// Each run as a whole, under a guard.
    Runs(&'a [Option<Reg>]),
    /// Elements, each under its own mask.
    Elements,
}

/// The labels of a branch: where the other path begins, and where both join.
#[derive(Clone, Copy)]
pub(crate) struct Branch {
    otherwise: u32,
    join: u32,
}

impl Group {
    /// The first register of each run.
    pub fn runs(&self) -> impl Iterator<Item = usize> + use<> {
        (self.first..).step_by(self.width).take(self.count)
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

    /// A tile of pointers that is moved by a product which a loop steps; `None` if it is moved otherwise.
    pub fn offset_by_product(&mut self, ptr: Value, index: Value, result: Value) -> Result<Option<Vec<Reg>>, String> {
        let Some(ops::Op::Splat { x, .. }) = self.made_by(index) else { return Ok(None) };
        let Some(bytes) = self.loops.product(x) else { return Ok(None) };
        let moved = |cx: &mut Self, r: usize| {
            let pointer = cx.element(ptr, r)?;
            Ok(cx.arith(Opcode::Add, Ty::S64, &[pointer.into(), bytes.into()]))
        };
        self.tile(result, moved).map(Some)
    }

    /// Loads the elements at a location into the registers of a result.
    pub fn load(&mut self, from: Location, other: Option<Value>, result: Value) -> Result<Vec<Reg>, String> {
        let Location::Pointers { ptr, mask } = from else { return self.load_view(from, other, result) };
        let mut run = Run::of(self.func, &self.analyses.facts, ptr, mask)?;
        if let Some(other) = other {
            run = run.with_padding(&self.analyses.facts, other, self.made_by(other));
        }
        let Run { dtype, width, .. } = run;
        let mut regs = Vec::new();
        for runs in run.groups(self.registers(ptr)) {
            let mut words: Vec<Vec<Reg>> = Vec::new();
            let access = |cx: &mut Self, group: &Group, path: Path<'_>| match path {
                Path::Runs(guards) => {
                    for ((i, first), &guard) in group.runs().enumerate().zip(guards) {
                        let padding = match (guard.and(other), run.padding) {
                            (None, _) => None,
                            (Some(other), Padding::Uniform(_)) => Some(vec![cx.element(other, first)?; width]),
                            (Some(other), Padding::Any) => Some(cx.regs(other)[first..first + width].to_vec()),
                        };
                        let at = run.at(cx.element(ptr, first)?, 0);
                        let into = words.get(i).map(Vec::as_slice);
                        let loaded = cx.load_words(dtype, at, width, guard, padding.as_deref(), into);
                        if words.len() == i {
                            words.push(loaded);
                        }
                    }
                    Ok(())
                }
                Path::Elements => cx.load_elements(run, group, ptr, &words, other),
            };
            self.where_read((ptr, mask), |cx| cx.on_paths(run, runs, mask, None, access))?;
            regs.extend(words.iter().flat_map(|words| self.unpack(dtype, width, words)));
        }
        Ok(regs)
    }

    /// Loads the elements of a group, each under its own mask, into the registers of the words of its runs.
    fn load_elements(
        &mut self,
        run: Run,
        group: &Group,
        ptr: Value,
        words: &[Vec<Reg>],
        other: Option<Value>,
    ) -> Result<(), String> {
        let Run { dtype, width, .. } = run;
        for (first, words) in group.runs().zip(words) {
            if run.is_by_words() && (dtype.bytes() > 2 || other.is_none()) {
                let base = self.element(ptr, first)?;
                self.cut_or_whole(run, group, first, |cx, whole| {
                    cx.load_prefix(run, group, first, (base, words), (other, whole))
                })?;
                continue;
            }
            let (mut elements, base) = (Vec::new(), self.element(ptr, first)?);
            for i in first..first + width {
                let (at, mask) = (run.at(base, i - first), self.guard_of(group, i)?);
                let padding = other.map(|other| self.element(other, i)).transpose()?;
                let word = self.load_words(dtype, at, 1, mask, padding.as_ref().map(std::slice::from_ref), None);
                elements.extend(self.unpack(dtype, 1, &word));
            }
            // Both paths join in words, so that nothing waits for the data before the next access is issued.
            let packed = self.pack(dtype, &elements);
            for (&dst, src) in words.iter().zip(packed) {
                let ty = bits_of(self::words(dtype, width).0);
                self.emit(Op::Mov { ty, dst, src: src.into() });
            }
        }
        Ok(())
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
        let whole = self.is_uniform(begin, end);
        let branch = self.branch(whole);
        self.on_a_branch(|cx| access(cx, Some(end)))?;
        self.otherwise(branch);
        self.on_a_branch(|cx| access(cx, None))?;
        self.join(branch);
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

    /// One access: the words of `count` elements if the guard holds, else of `other`, or 0; in these registers, or new ones.
    pub(crate) fn load_words(
        &mut self,
        dtype: DType,
        at: Address,
        count: usize,
        guard: Option<Reg>,
        other: Option<&[Reg]>,
        into: Option<&[Reg]>,
    ) -> Vec<Reg> {
        let (ty, words) = words(dtype, count);
        // Masked-off elements keep the registers' values: 0, or a copy of what may be needed again.
        let packed = match (guard, other) {
            (None, _) => None,
            (Some(_), None) => Some(vec![Operand::Int(0); words]),
            (Some(_), Some(other)) => Some(self.pack(dtype, other).into_iter().map(Operand::Reg).collect()),
        };
        let dsts: Vec<Reg> = match into {
            Some(into) => into.to_vec(),
            None => (0..words).map(|_| self.reg(crate::ptx::code::emitter::class_of(ty))).collect(),
        };
        for (&dst, src) in dsts.iter().zip(packed.into_iter().flatten()) {
            self.emit(Op::Mov { ty: bits_of(ty), dst, src });
        }
        self.emit_if(guard, Op::Ld { ty, dsts: dsts.clone(), address: at });
        dsts
    }

    /// Stores a tile to a location.
    pub fn store(&mut self, to: Location, value: Value) -> Result<(), String> {
        let Location::Pointers { ptr, mask } = to else { return self.store_view(to, value) };
        let run @ Run { dtype, width, .. } = Run::of(self.func, &self.analyses.facts, ptr, mask)?;
        let once = self.store_guard(ptr);
        let elements = self.regs(value).to_vec();
        for runs in run.groups(self.registers(ptr)) {
            let access = |cx: &mut Self, group: &Group, path: Path<'_>| {
                let Path::Runs(guards) = path else { return cx.store_elements(run, group, ptr, &elements) };
                for (first, &guard) in group.runs().zip(guards) {
                    let at = run.at(cx.element(ptr, first)?, 0);
                    cx.store_run(dtype, at, &elements[first..first + width], guard);
                }
                Ok(())
            };
            self.where_read((ptr, mask), |cx| cx.on_paths(run, runs, mask, once, access))?;
        }
        Ok(())
    }

    /// Stores the elements of a group, each under its own mask.
    fn store_elements(&mut self, run: Run, group: &Group, ptr: Value, elements: &[Reg]) -> Result<(), String> {
        let Run { dtype, width, .. } = run;
        for first in group.runs() {
            let base = self.element(ptr, first)?;
            if run.is_by_words() {
                let srcs = self.pack(dtype, &elements[first..first + width]);
                self.cut_or_whole(run, group, first, |cx, whole| {
                    cx.store_prefix(run, group, first, (base, &srcs), whole)
                })?;
                continue;
            }
            for i in first..first + width {
                let (at, mask) = (run.at(base, i - first), self.guard_of(group, i)?);
                self.store_run(dtype, at, &elements[i..=i], mask);
            }
        }
        Ok(())
    }

    pub(crate) fn store_run(&mut self, dtype: DType, at: Address, elements: &[Reg], guard: Option<Reg>) {
        let srcs = self.pack(dtype, elements);
        self.emit_if(guard, Op::St { ty: words(dtype, elements.len()).0, srcs, address: at });
    }

    /// Emits the accesses of a group of runs, on each path that a thread may take. Under a mask that is a prefix of every run these are:
    /// all elements of the thread are in bounds, if the last of each row tells it ([`Run::ends`]); some runs are not, but none is cut,
    /// each under the mask of its first element; or each element by itself. Only the warps at an edge take another path than the first,
    /// and what only the others need is computed in them.
    fn on_paths(
        &mut self,
        run: Run,
        runs: Range<usize>,
        mask: Option<Value>,
        once: Option<Reg>,
        mut access: impl FnMut(&mut Self, &Group, Path<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let count = runs.len() / run.width.max(1);
        let group = Group { first: runs.start, width: run.width, count, mask, once };
        let always = vec![once; count];
        let Some(mask) = mask else { return access(self, &group, Path::Runs(&always)) };
        match run.mask {
            MaskForm::Uniform => {
                let guards = group.runs().map(|first| self.guard(mask, once, first).map(Some));
                let guards = guards.collect::<Result<Vec<_>, String>>()?;
                access(self, &group, Path::Runs(&guards))
            }
            MaskForm::Any => {
                let all = runs.map(|r| self.guard(mask, once, r)).collect::<Result<Vec<_>, String>>()?;
                let all = self.conjunction(&all);
                let branch = self.branch(all);
                access(self, &group, Path::Runs(&vec![None; count]))?;
                self.otherwise(branch);
                self.on_cold_path(|cx| access(cx, &group, Path::Elements))?;
                self.join(branch);
                Ok(())
            }
            MaskForm::Prefix => {
                let Some(ends) = run.ends(self.func, &self.analyses.facts, mask, runs) else {
                    let (guards, whole) = self.edge_guards(run, &group, mask)?;
                    let branch = self.branch(whole);
                    access(self, &group, Path::Runs(&guards))?;
                    self.otherwise(branch);
                    self.on_cold_path(|cx| access(cx, &group, Path::Elements))?;
                    self.join(branch);
                    return Ok(());
                };
                let branch = self.branch_on_all(mask, ends)?;
                access(self, &group, Path::Runs(&always))?;
                self.otherwise(branch);
                self.on_cold_path(|cx| {
                    let (guards, whole) = cx.edge_guards(run, &group, mask)?;
                    let branch = cx.branch(whole);
                    cx.on_a_branch(|cx| access(cx, &group, Path::Runs(&guards)))?;
                    cx.otherwise(branch);
                    cx.on_a_branch(|cx| access(cx, &group, Path::Elements))?;
                    cx.join(branch);
                    Ok(())
                })?;
                self.join(branch);
                Ok(())
            }
        }
    }

    /// Begins the path on which a mask holds at all of these registers.
    pub(crate) fn branch_on_all(&mut self, mask: Value, registers: Vec<usize>) -> Result<Branch, String> {
        let all = registers.into_iter().map(|r| self.element(mask, r)).collect::<Result<Vec<_>, String>>()?;
        let all = self.conjunction(&all);
        Ok(self.branch(all))
    }

    /// Begins the path on which a predicate holds.
    fn branch(&mut self, pred: Reg) -> Branch {
        let branch = Branch { otherwise: self.label(), join: self.label() };
        self.emit(Op::Bra { label: branch.otherwise, pred: Some(pred), unless: true, uniform: false });
        branch
    }

    /// Ends it, and begins the other one.
    pub(crate) fn otherwise(&mut self, branch: Branch) {
        self.emit(Op::Bra { label: branch.join, pred: None, unless: false, uniform: false });
        self.emit(Op::Label { label: branch.otherwise });
    }

    /// Ends that one, too.
    pub(crate) fn join(&mut self, branch: Branch) {
        self.emit(Op::Label { label: branch.join });
    }

    /// What guards each run of a group under a mask that is a prefix of it, and whether none is cut.
    fn edge_guards(&mut self, run: Run, group: &Group, mask: Value) -> Result<(Vec<Option<Reg>>, Reg), String> {
        let (mut guards, mut whole) = (Vec::new(), Vec::new());
        for first in group.runs() {
            let last = first + run.width - 1;
            let (begin, end) = (self.guard(mask, group.once, first)?, self.guard(mask, group.once, last)?);
            guards.push(Some(begin));
            whole.push(self.is_uniform(begin, end));
            if let Padding::Uniform(Some(cond)) = run.padding {
                let (begin, end) = (self.element(cond, first)?, self.element(cond, last)?);
                whole.push(self.is_uniform(begin, end));
            }
        }
        Ok((guards, self.conjunction(&whole)))
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

    /// Whether all predicates hold.
    pub fn conjunction(&mut self, preds: &[Reg]) -> Reg {
        let (&first, rest) = preds.split_first().unwrap_or((&Reg { class: Class::Pred, index: 0 }, &[]));
        rest.iter().fold(first, |all, &pred| self.arith(Opcode::And, Ty::Pred, &[all.into(), pred.into()]))
    }

    /// The words of a run of elements, from registers that hold one element each.
    pub(crate) fn pack(&mut self, dtype: DType, elements: &[Reg]) -> Vec<Reg> {
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
        halves.chunks(2).map(|pair| self.pair(Class::B32, pair[0], pair[1])).collect()
    }

    /// A `bool` as a byte; an 8-bit integer is one already.
    fn byte(&mut self, dtype: DType, element: Reg) -> Reg {
        if dtype == DType::Bool { self.selp(Ty::B16, 1, 0, element) } else { element }
    }

    pub(crate) fn unpack(&mut self, dtype: DType, count: usize, words: &[Reg]) -> Vec<Reg> {
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
        words.iter().flat_map(|&word| self.unpair(word)).collect()
    }

    /// An element from the byte it is in memory, already extended to 16 bits.
    fn element_of_byte(&mut self, dtype: DType, byte: Reg) -> Reg {
        if dtype == DType::Bool { self.setp(Cmp::Ne, Ty::U16, byte, Operand::Int(0)) } else { byte }
    }
}

/// How a run of elements is accessed: the type of a word, and how many.
pub(crate) fn words(dtype: DType, count: usize) -> (Ty, usize) {
    match (dtype.bytes() as usize * count, dtype.bytes()) {
        (1, _) if dtype == DType::I8 => (Ty::S8, 1),
        (1, _) => (Ty::U8, 1),
        (2, _) => (Ty::B16, 1),
        (bytes, 8) => (Ty::B64, bytes / 8),
        (bytes, _) => (Ty::B32, bytes / 4),
    }
}

/// The type with which a register of a word is moved.
pub(crate) fn bits_of(word: Ty) -> Ty {
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
        | Ty::F16x2
        | Ty::BF16x2
        | Ty::F32
        | Ty::F64 => word,
    }
}
