//! Elements of a tile as words that instructions move: several narrow ones to a register of 32 bits, a wide one in two.

use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Operand, Reg, Round, Ty};
use crate::types::{DType, Elem};

/// How a thread holds an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// In a predicate; it moves as a byte of 0 or 1.
    Pred,
    /// A byte, in a register of 16 bits, extended by its sign or by zeros.
    Byte { signed: bool },
    /// In a register of 16 bits.
    Half,
    /// In a register of 32 bits.
    Word,
    /// In a register of 64 bits.
    Double,
}

impl Held {
    pub fn of(elem: Elem) -> Held {
        match elem {
            Elem::Ptr { .. } => Held::Double,
            Elem::Num(DType::Bool) => Held::Pred,
            Elem::Num(dtype) => match dtype.bits() {
                8 => Held::Byte { signed: dtype.is_signed() },
                16 => Held::Half,
                32 => Held::Word,
                _ => Held::Double,
            },
        }
    }

    /// Bits that move.
    pub fn bits(self) -> u32 {
        match self {
            Held::Pred | Held::Byte { .. } => 8,
            Held::Half => 16,
            Held::Word => 32,
            Held::Double => 64,
        }
    }

    /// Elements in a register of 32 bits, if that many are accessed at once.
    pub fn per_word(self) -> usize {
        (32 / self.bits()).max(1) as usize
    }

    /// How memory of `count` elements in a row is accessed: the type of a word, and how many.
    pub fn words(self, count: usize) -> (Ty, usize) {
        match (self, count * self.bits() as usize / 8) {
            (Held::Double, bytes) => (Ty::B64, bytes / 8),
            (Held::Byte { signed: true }, 1) => (Ty::S8, 1),
            (_, 1) => (Ty::U8, 1),
            (_, 2) => (Ty::B16, 1),
            (_, bytes) => (Ty::B32, bytes / 4),
        }
    }
}

impl Lower<'_> {
    /// Predicates as numbers; other elements are numbers already.
    pub fn numbers(&mut self, held: Held, elements: &[Reg]) -> Vec<Reg> {
        match held {
            Held::Pred => elements.iter().map(|&pred| self.selp(Ty::B16, 1, 0, pred)).collect(),
            Held::Byte { .. } | Held::Half | Held::Word | Held::Double => elements.to_vec(),
        }
    }

    /// What [`Lower::numbers`] were made of.
    pub fn elements(&mut self, held: Held, numbers: &[Reg]) -> Vec<Reg> {
        match held {
            Held::Pred => numbers.iter().map(|&number| self.setp(Cmp::Ne, Ty::U16, number, 0)).collect(),
            Held::Byte { .. } | Held::Half | Held::Word | Held::Double => numbers.to_vec(),
        }
    }

    /// The register in which 1, 2 or 4 numbers lie as they do in memory, the first one lowest. The bits above them are
    /// not defined.
    pub fn pack_word(&mut self, held: Held, numbers: &[Reg]) -> Reg {
        match (held, numbers) {
            (Held::Half, &[a, b]) => self.pair(Class::B32, a, b),
            (Held::Pred | Held::Byte { .. }, &[a, b]) => {
                let pair = self.pair(Class::B32, a, b);
                self.prmt(pair, 0, 0x4420)
            }
            (Held::Pred | Held::Byte { .. }, &[a, b, c, d]) => {
                let (low, high) = (self.pair(Class::B32, a, b), self.pair(Class::B32, c, d));
                self.prmt(low, high, 0x6420)
            }
            (_, numbers) => numbers[0],
        }
    }

    /// The `count` numbers that [`Lower::pack_word`] put together.
    pub fn unpack_word(&mut self, held: Held, count: usize, word: Reg) -> Vec<Reg> {
        let extended = match held {
            _ if count == 1 => return vec![word],
            // Selectors of bytes, from 8 on of their sign alone; 4 is a byte of 0.
            Held::Byte { signed: true } => [0x9180, 0xb3a2],
            Held::Pred | Held::Byte { signed: false } => [0x4140, 0x4342],
            Held::Half | Held::Word | Held::Double => return self.unpair(word).to_vec(),
        };
        let mut numbers = Vec::with_capacity(count);
        for selector in extended.into_iter().take(count / 2) {
            let pair = self.prmt(word, 0, selector);
            numbers.extend(self.unpair(pair));
        }
        numbers
    }

    /// Registers of 32 bits that hold a word: its halves, or the word and something above it.
    pub fn parts(&mut self, word: Reg) -> Vec<Reg> {
        match word.class {
            Class::B64 => self.unpair(word).to_vec(),
            Class::B16 => vec![self.cvt(Round::None, Ty::U32, Ty::U16, word)],
            Class::B32 | Class::Pred => vec![word],
        }
    }

    /// The word of a class of which these are the [`Lower::parts`].
    pub fn whole(&mut self, class: Class, parts: &[Reg]) -> Reg {
        match (class, parts) {
            (Class::B64, &[lo, hi]) => self.pair(class, lo, hi),
            (Class::B16, &[word]) => self.cvt(Round::None, Ty::U16, Ty::U32, word),
            (_, parts) => parts[0],
        }
    }

    pub(crate) fn pair(&mut self, class: Class, lo: Reg, hi: Reg) -> Reg {
        if let Some(word) = self.code.word(lo, hi) {
            return word;
        }
        let dst = self.reg(class);
        self.emit(Op::Pack { dst, lo, hi });
        dst
    }

    pub(crate) fn unpair(&mut self, src: Reg) -> [Reg; 2] {
        let half = if src.class == Class::B64 { Class::B32 } else { Class::B16 };
        let (lo, hi) = (self.reg(half), self.reg(half));
        self.emit(Op::Unpack { lo, hi, src });
        self.code.unpacked([lo, hi], src);
        [lo, hi]
    }

    fn prmt(&mut self, a: Reg, b: impl Into<Operand>, selector: u16) -> Reg {
        let dst = self.reg(Class::B32);
        self.emit(Op::Prmt { dst, a, b: b.into(), selector });
        dst
    }
}
