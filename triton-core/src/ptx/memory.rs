//! Lowering of addresses and accesses to global memory.
//!
//! One access of a thread covers a run of elements whose addresses allow it ([`axis::vector_width`]), as one to four words.
//! If the mask is not known to be uniform on a run, a branch decides: one vectorized access, or element by element. At
//! most the warp at a tile's edge takes the second path. Elements are taken out of words, and put into them, in
//! registers.

use super::lower::Lower;
use super::{Address, Class, Cmp, Op, Opcode, Operand, Reg, Round, Ty};
use crate::analysis::axis;
use crate::ir::Value;
use crate::layout::Layout;
use crate::types::{DType, Elem};

/// How a tile of pointers is accessed: runs of `width` elements, on which the mask is known to be uniform or not.
#[derive(Clone, Copy)]
struct Run {
    dtype: DType,
    width: usize,
    agrees: bool,
}

impl Run {
    /// The `index`th element from an address on: a run is contiguous.
    fn at(&self, base: Reg, index: usize) -> Address {
        Address { base, offset: index as i32 * self.dtype.bytes() as i32 }
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
        let run @ Run { dtype, width, agrees } = self.run(ptr, mask)?;
        let mut regs = Vec::new();
        for first in (0..self.regs(ptr).len()).step_by(width) {
            let base = self.regs(ptr)[first];
            let masks = mask.map(|m| self.regs(m)[first..first + width].to_vec());
            let others = other.map(|o| self.regs(o)[first..first + width].to_vec());
            let words = match masks {
                None => self.load_words(dtype, run.at(base, 0), width, None, None),
                Some(masks) if agrees => {
                    self.load_words(dtype, run.at(base, 0), width, Some(masks[0]), others.as_deref())
                }
                // Either the mask holds for the whole run, or its elements go one by one. Both paths join in words, so
                // that nothing waits for the data before the next access is issued.
                Some(masks) => {
                    let (apart, done) = self.branch_unless_all(&masks);
                    let words = self.load_words(dtype, run.at(base, 0), width, None, None);
                    self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: false });
                    self.emit(Op::Label { label: apart });
                    let mut elements = Vec::new();
                    for (i, &mask) in masks.iter().enumerate() {
                        let other = others.as_ref().map(|o| &o[i..=i]);
                        let word = self.load_words(dtype, run.at(base, i), 1, Some(mask), other);
                        elements.extend(self.unpack(dtype, 1, &word));
                    }
                    let packed = self.pack(dtype, &elements);
                    for (&dst, src) in words.iter().zip(packed) {
                        let ty = bits_of(self::words(dtype, width).0);
                        self.emit(Op::Mov { ty, dst, src: src.into() });
                    }
                    self.emit(Op::Label { label: done });
                    words
                }
            };
            regs.extend(self.unpack(dtype, width, &words));
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
        let run @ Run { dtype, width, agrees } = self.run(ptr, mask)?;
        let once = self.store_guard(ptr);
        for first in (0..self.regs(ptr).len()).step_by(width) {
            let base = self.regs(ptr)[first];
            let elements = self.regs(value)[first..first + width].to_vec();
            let count = if agrees { 1 } else { width };
            let masks = mask.map(|m| self.regs(m)[first..first + count].to_vec());
            let masks: Option<Vec<Reg>> = match (masks, once) {
                (Some(masks), Some(once)) => {
                    Some(masks.into_iter().map(|mask| self.conjunction(&[mask, once])).collect())
                }
                (masks, once) => masks.or(once.map(|once| vec![once])),
            };
            match masks {
                Some(masks) if masks.len() > 1 => {
                    let (apart, done) = self.branch_unless_all(&masks);
                    self.store_run(dtype, run.at(base, 0), &elements, None);
                    self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: false });
                    self.emit(Op::Label { label: apart });
                    for (i, &mask) in masks.iter().enumerate() {
                        self.store_run(dtype, run.at(base, i), &elements[i..=i], Some(mask));
                    }
                    self.emit(Op::Label { label: done });
                }
                masks => self.store_run(dtype, run.at(base, 0), &elements, masks.map(|m| m[0])),
            }
        }
        Ok(())
    }

    fn store_run(&mut self, dtype: DType, at: Address, elements: &[Reg], guard: Option<Reg>) {
        let srcs = self.pack(dtype, elements);
        self.emit_if(guard, Op::St { ty: words(dtype, elements.len()).0, srcs, address: at });
    }

    /// Continues if all predicates hold, else jumps to the first label; the second is where both paths join.
    fn branch_unless_all(&mut self, preds: &[Reg]) -> (u32, u32) {
        let all = self.conjunction(preds);
        let (apart, done) = (self.label(), self.label());
        self.emit(Op::Bra { label: apart, pred: Some(all), unless: true, uniform: false });
        (apart, done)
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
        let agrees = mask.is_none_or(|m| self.facts[m].constancy >= width);
        Ok(Run { dtype: pointee, width: width as usize, agrees })
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
