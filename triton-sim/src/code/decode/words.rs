//! The words of an operation code, taken one after the other.

use super::error;
use crate::ParseError;
use crate::code::{Order, Scope};
use crate::num::{Flags, Float, Int, Num, Round};
use crate::parse::ast::Instruction;

/// The words that are not taken yet, without the first.
pub(super) struct Words<'a> {
    first: &'a str,
    left: Vec<&'a str>,
}

/// A type of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// A predicate.
    Pred,
    /// Bits.
    Bits(u8),
    /// A number.
    Num(Num),
    /// Two numbers of 16 bits, or of 8.
    Packed(Float),
}

/// Every type: its word and its bytes.
const TYPES: [(&str, Ty, u8); 24] = [
    ("pred", Ty::Pred, 1),
    ("b8", Ty::Bits(1), 1),
    ("b16", Ty::Bits(2), 2),
    ("b32", Ty::Bits(4), 4),
    ("b64", Ty::Bits(8), 8),
    ("u8", Ty::Num(Num::Int(Int::U8)), 1),
    ("s8", Ty::Num(Num::Int(Int::S8)), 1),
    ("u16", Ty::Num(Num::Int(Int::U16)), 2),
    ("s16", Ty::Num(Num::Int(Int::S16)), 2),
    ("u32", Ty::Num(Num::Int(Int::U32)), 4),
    ("s32", Ty::Num(Num::Int(Int::S32)), 4),
    ("u64", Ty::Num(Num::Int(Int::U64)), 8),
    ("s64", Ty::Num(Num::Int(Int::S64)), 8),
    ("f16", Ty::Num(Num::Float(Float::F16)), 2),
    ("bf16", Ty::Num(Num::Float(Float::Bf16)), 2),
    ("tf32", Ty::Num(Num::Float(Float::Tf32)), 4),
    ("f32", Ty::Num(Num::Float(Float::F32)), 4),
    ("f64", Ty::Num(Num::Float(Float::F64)), 8),
    ("f16x2", Ty::Packed(Float::F16), 4),
    ("bf16x2", Ty::Packed(Float::Bf16), 4),
    ("e4m3x2", Ty::Packed(Float::E4m3), 2),
    ("e5m2x2", Ty::Packed(Float::E5m2), 2),
    ("e4m3", Ty::Num(Num::Float(Float::E4m3)), 1),
    ("e5m2", Ty::Num(Num::Float(Float::E5m2)), 1),
];

const ROUNDS: [(&str, Round, bool); 9] = [
    ("rn", Round::Nearest, false),
    ("rz", Round::Zero, false),
    ("rm", Round::Down, false),
    ("rp", Round::Up, false),
    ("rna", Round::NearestAway, false),
    ("rni", Round::Nearest, true),
    ("rzi", Round::Zero, true),
    ("rmi", Round::Down, true),
    ("rpi", Round::Up, true),
];

const SCOPES: [(&str, Scope); 4] =
    [("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];

impl Ty {
    /// The type that a word names.
    pub(super) fn of(word: &str) -> Option<Ty> {
        TYPES.iter().find(|t| t.0 == word).map(|t| t.1)
    }

    /// Bytes.
    pub(super) fn bytes(self) -> u8 {
        TYPES.iter().find(|t| t.1 == self).map_or(8, |t| t.2)
    }

    /// Whether it is a signed integer.
    pub(super) fn signed(self) -> bool {
        matches!(self, Ty::Num(Num::Int(Int::S8 | Int::S16 | Int::S32 | Int::S64)))
    }

    /// As a number; bits are unsigned.
    pub(super) fn num(self) -> Option<Num> {
        match self {
            Ty::Num(num) => Some(num),
            Ty::Bits(1) => Some(Num::Int(Int::U8)),
            Ty::Bits(2) => Some(Num::Int(Int::U16)),
            Ty::Bits(4) => Some(Num::Int(Int::U32)),
            Ty::Bits(8) => Some(Num::Int(Int::U64)),
            Ty::Bits(_) | Ty::Pred | Ty::Packed(_) => None,
        }
    }

    /// As an integer; bits are unsigned.
    pub(super) fn int(self) -> Option<Int> {
        match self.num() {
            Some(Num::Int(int)) => Some(int),
            Some(Num::Float(_)) | None => None,
        }
    }
}

impl<'a> Words<'a> {
    pub(super) fn new(inst: &'a Instruction) -> Words<'a> {
        let mut words = inst.opcode.iter().map(String::as_str);
        Words { first: words.next().unwrap_or_default(), left: words.collect() }
    }

    /// The first word.
    pub(super) fn first(&self) -> &'a str {
        self.first
    }

    /// The words that are left.
    pub(super) fn left(&self) -> &[&'a str] {
        &self.left
    }

    /// Takes a word if it is there.
    pub(super) fn take(&mut self, word: &str) -> bool {
        match self.left.iter().position(|w| *w == word) {
            Some(index) => {
                self.left.remove(index);
                true
            }
            None => false,
        }
    }

    /// Takes any of these words.
    pub(super) fn take_all(&mut self, words: &[&str]) {
        self.left.retain(|w| !words.contains(w));
    }

    /// Takes the first of these words that is there, and gives what stands for it.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let index = self.left.iter().position(|w| table.iter().any(|(t, _)| t == w))?;
        let word = self.left.remove(index);
        table.iter().find(|(t, _)| *t == word).map(|(_, value)| *value)
    }

    /// Takes the last word that is a type.
    pub(super) fn ty(&mut self) -> Option<Ty> {
        let index = self.left.iter().rposition(|w| Ty::of(w).is_some())?;
        Ty::of(self.left.remove(index))
    }

    /// Takes everything.
    pub(super) fn take_rest(&mut self) -> Vec<&'a str> {
        std::mem::take(&mut self.left)
    }

    pub(super) fn scope(&mut self) -> Option<Scope> {
        self.one_of(&SCOPES)
    }

    /// The order of an access.
    pub(super) fn order(&mut self) -> Order {
        let make: Option<fn(Scope) -> Order> = self.one_of(&[
            ("relaxed", Order::Relaxed as fn(Scope) -> Order),
            ("acquire", Order::Acquire),
            ("release", Order::Release),
            ("acq_rel", Order::AcqRel),
        ]);
        let scope = self.scope();
        if self.take("volatile") {
            return Order::Relaxed(Scope::Sys);
        }
        self.take("weak");
        make.map_or(Order::Weak, |make| make(scope.unwrap_or(Scope::Gpu)))
    }

    /// The modifiers of a float.
    pub(super) fn flags(&mut self) -> Flags {
        let round = ROUNDS.iter().find(|(word, ..)| self.take(word));
        Flags {
            round: round.map_or(Round::Nearest, |r| r.1),
            integral: round.is_some_and(|r| r.2),
            ftz: self.take("ftz"),
            sat: self.take("sat"),
            satfinite: self.take("satfinite"),
            relu: self.take("relu"),
            approx: self.take("approx"),
            full: self.take("full"),
            nan: self.take("NaN"),
            xorsign: self.take("xorsign") && self.take("abs"),
        }
    }

    /// Reports words that were not taken.
    pub(super) fn end(&self, inst: &Instruction) -> Result<(), ParseError> {
        match self.left.first() {
            None => Ok(()),
            Some(word) => Err(error(inst.pos, format!("`.{word}` is not known in `{}`", inst.opcode.join(".")))),
        }
    }
}
