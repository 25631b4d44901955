//! The code so far, with the numbers of its registers and labels.
//!
//! - Code has two parts, the entry and the body. The body follows the entry. The cursor is in one of them.
//! - Registers and labels are numbered once for both parts.
//! - Which registers are the halves of which words holds from where a word is taken apart to where one of these registers is written. Each
//!   instruction that is emitted sees to that.
//! - No branch or loop forgets such a word. Halves are new registers, so that code which they do not reach does not name them. What a loop
//!   writes in each turn is its own, and was not taken apart before it.

use crate::ptx::code::packed::Packed;
use crate::ptx::{Class, Inst, Op, Reg, Ty};
use crate::span::Span;
use crate::types::DType;

/// Instructions that certainly exceed [`crate::ptx::MAX_TEXT`].
const MAX_INSTRUCTIONS: usize = crate::ptx::MAX_TEXT / 8;

/// Code, and a cursor in it.
pub(crate) struct Emitter {
    /// The part that the cursor is in.
    here: Vec<Inst>,
    /// The other part.
    other: Vec<Inst>,
    is_at_entry: bool,
    /// Registers of each class.
    count: [u32; 4],
    labels: u32,
    packed: Packed,
    /// Where the operation is whose code follows.
    span: Span,
    /// The most instructions of one operation, and where it is.
    largest: (usize, Span),
}

impl Emitter {
    /// No code, with the cursor in the body.
    pub fn new() -> Emitter {
        Emitter {
            // Code of most kernels fits, and is not copied as it grows.
            here: Vec::with_capacity(4096),
            other: Vec::new(),
            is_at_entry: false,
            count: [0; 4],
            labels: 0,
            packed: Packed::default(),
            span: Span::NONE,
            largest: (0, Span::NONE),
        }
    }

    /// Adds an instruction where the cursor is; under a guard, in the threads in which that holds.
    pub fn emit(&mut self, guard: Option<Reg>, op: Op) {
        if !self.is_full() {
            self.packed.written(&op);
            self.here.push(Inst { guard, op, span: self.span });
        }
    }

    /// Whether there is more code than there may be: all that follows is dropped, and need not be generated.
    pub fn is_full(&self) -> bool {
        self.len() >= MAX_INSTRUCTIONS
    }

    /// Instructions of the part that the cursor is in.
    pub fn len(&self) -> usize {
        self.here.len()
    }

    /// A label of its own number.
    pub fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// A register of its own number.
    pub fn reg(&mut self, class: Class) -> Reg {
        let count = &mut self.count[class as usize];
        *count += 1;
        Reg { class, index: *count - 1 }
    }

    /// Whether the cursor is in the entry.
    pub fn is_at_entry(&self) -> bool {
        self.is_at_entry
    }

    /// Moves the cursor to the other part, and has what follows be for an operation there. Returns that of the part that it leaves.
    pub fn swap(&mut self, span: Span) -> Span {
        std::mem::swap(&mut self.here, &mut self.other);
        self.is_at_entry = !self.is_at_entry;
        std::mem::replace(&mut self.span, span)
    }

    /// What follows is for an operation there.
    pub fn locate(&mut self, span: Span) {
        self.span = span;
    }

    /// That the code of an operation has this many instructions.
    pub fn measure(&mut self, instructions: usize, span: Span) {
        if instructions > self.largest.0 {
            self.largest = (instructions, span);
        }
    }

    /// The most instructions of one operation, and where it is.
    pub fn largest(&self) -> (usize, Span) {
        self.largest
    }

    /// The register of a word with these halves.
    pub fn word(&self, lo: Reg, hi: Reg) -> Option<Reg> {
        self.packed.word(lo, hi)
    }

    /// That these registers hold the halves of a word.
    pub fn unpacked(&mut self, [lo, hi]: [Reg; 2], word: Reg) {
        self.packed.unpacked(lo, hi, word);
    }

    /// The entry and the body, and the registers of each class.
    pub fn finish(self) -> (Vec<Inst>, [u32; 4]) {
        let (mut entry, mut body) = (self.other, self.here);
        entry.append(&mut body);
        (entry, self.count)
    }
}

/// The register class of a PTX type.
pub(crate) fn class_of(ty: Ty) -> Class {
    match ty {
        Ty::Pred => Class::Pred,
        Ty::B8 | Ty::U8 | Ty::S8 | Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => Class::B16,
        Ty::B32 | Ty::U32 | Ty::S32 | Ty::F16x2 | Ty::BF16x2 | Ty::F32 => Class::B32,
        Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 => Class::B64,
    }
}

/// The untyped PTX type of a register class.
pub(crate) fn class_type(class: Class) -> Ty {
    match class {
        Class::Pred => Ty::Pred,
        Class::B16 => Ty::B16,
        Class::B32 => Ty::B32,
        Class::B64 => Ty::B64,
    }
}

/// The register class of an element.
pub(crate) fn class_of_dtype(dtype: DType) -> Class {
    class_of(bits_type(dtype))
}

/// The untyped PTX type of a register that holds an element.
pub(crate) fn bits_type(dtype: DType) -> Ty {
    match (dtype, dtype.bits()) {
        (DType::Bool, _) => Ty::Pred,
        (_, 64) => Ty::B64,
        (_, 32) => Ty::B32,
        _ => Ty::B16,
    }
}
