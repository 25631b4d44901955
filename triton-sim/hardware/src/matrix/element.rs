//! Elements of matrices and how to write values in them.

use crate::operand_type::{BF16, E4M3, E5M2, F16, F32, F64, Format, OperandType};
use crate::random::Random;

/// What the bits of an element mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A floating-point number.
    Float(Format),
    /// An integer with a sign.
    Signed,
    /// An integer without.
    Unsigned,
}

/// The type of the elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// As instructions write it.
    pub name: &'static str,
    /// Bytes of one.
    pub bytes: usize,
    /// What it means.
    pub number: Number,
    /// Bits of the fraction that an instruction uses; the others are the low ones.
    pub fraction: u32,
}

const fn float(name: &'static str, bytes: usize, format: Format) -> Element {
    Element { name, bytes, number: Number::Float(format), fraction: format.fraction }
}

/// Types by name.
pub const F16_: Element = float("f16", 2, F16);
/// See [`F16_`].
pub const BF16_: Element = float("bf16", 2, BF16);
/// See [`F16_`].
pub const F32_: Element = float("f32", 4, F32);
/// See [`F16_`].
pub const TF32_: Element = Element { fraction: 10, ..float("tf32", 4, F32) };
/// See [`F16_`].
pub const F64_: Element = float("f64", 8, F64);
/// See [`F16_`].
pub const E4M3_: Element = float("e4m3", 1, E4M3);
/// See [`F16_`].
pub const E5M2_: Element = float("e5m2", 1, E5M2);
/// See [`F16_`].
pub const S8_: Element = Element { name: "s8", bytes: 1, number: Number::Signed, fraction: 0 };
/// See [`F16_`].
pub const U8_: Element = Element { name: "u8", bytes: 1, number: Number::Unsigned, fraction: 0 };
/// See [`F16_`].
pub const S32_: Element = Element { name: "s32", bytes: 4, number: Number::Signed, fraction: 0 };

impl Element {
    /// The format of floating-point numbers.
    pub fn format(self) -> Option<Format> {
        match self.number {
            Number::Float(format) => Some(format),
            Number::Signed | Number::Unsigned => None,
        }
    }

    /// `±2^exponent * (1 + quarters / 4)`; of integers, 0.
    pub fn scaled(self, negative: bool, exponent: i32, quarters: u64) -> u64 {
        self.format().map_or(0, |f| f.compose(negative, exponent, quarters << (f.fraction - 2)))
    }

    /// `±2^exponent`; of integers, 0.
    pub fn power(self, negative: bool, exponent: i32) -> u64 {
        self.scaled(negative, exponent, 0)
    }

    /// A small integer.
    pub fn integer(self, value: i32) -> u64 {
        let magnitude = u64::from(value.unsigned_abs());
        match self.format() {
            Some(_) if value == 0 => 0,
            Some(format) => {
                let exponent = magnitude.ilog2();
                format.compose(value < 0, exponent as i32, (magnitude << format.fraction) >> exponent)
            }
            None => value as u32 as u64 & (u64::MAX >> (64 - 8 * self.bytes)),
        }
    }

    /// A random number with an exponent between two; of integers, any.
    pub fn random(self, random: &mut Random, exponents: (i32, i32)) -> u64 {
        let bits = random.bits();
        match self.format() {
            Some(format) => {
                let unused = format.fraction - self.fraction;
                let fraction = (bits >> 1 << unused) & ((1 << format.fraction) - 1);
                format.compose(bits & 1 == 1, random.between(exponents.0, exponents.1), fraction)
            }
            None => bits & (u64::MAX >> (64 - 8 * self.bytes)),
        }
    }

    /// Any value, often a special one.
    pub fn special(self, random: &mut Random) -> u64 {
        let any = |random: &mut Random| random.bits() & (u64::MAX >> (64 - 8 * self.bytes));
        match OperandType::named(self.name) {
            Some(ty) => ty.sample(random, &[]) as u64,
            None => any(random),
        }
    }
}
