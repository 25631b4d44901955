//! The arithmetic of floats from their definition: numbers are decomposed, computed with exactly, and rounded once.
//!
//! One implementation for every format, by integers of 128 bits alone: it shares nothing with the compiler, with the hardware's
//! arithmetic, or with a library's.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg};
use triton_core::types::DType;

/// How a format lays out a number: a sign, then exponent bits, then the mantissa bits.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Mantissa bits.
    pub fraction: u32,
    /// Bits of the exponent.
    pub exponent: u32,
}

impl Format {
    /// The format of a float type; `None` of what is none.
    pub fn of(dtype: DType) -> Option<Format> {
        let (fraction, exponent) = match dtype {
            DType::F16 => (10, 5),
            DType::BF16 => (7, 8),
            DType::F32 => (23, 8),
            DType::F64 => (52, 11),
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => return None,
        };
        Some(Format { fraction, exponent })
    }

    /// The exponent of the least normal number.
    pub fn least(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    /// The exponent of the largest number.
    pub fn most(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of +∞.
    pub fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The bit of the sign.
    pub fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    /// The distance of neighbours at a number: its *unit in the last place* (ulp).
    pub fn unit(self, x: f64) -> f64 {
        // The exponent of an `f64` is read from its bits; subnormal `f64` lie below every other format's least.
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        power(exponent.clamp(self.least(), self.most()) - self.fraction as i32)
    }
}

/// 2ⁿ; 0 where that is less than an `f64` can hold.
pub fn power(n: i32) -> f64 {
    match n {
        1024.. => f64::INFINITY,
        -1022..1024 => f64::from_bits(((n + 1023) as u64) << 52),
        -1074..-1022 => f64::from_bits(1 << (n + 1074)),
        _ => 0.0,
    }
}

/// A float.
#[derive(Clone, Copy, Debug)]
pub enum Float {
    /// Not a number.
    Nan,
    /// ∞ or −∞.
    Infinite {
        /// Whether it is −∞.
        negative: bool,
    },
    /// ± `magnitude` · 2^`exponent`. After a division or a root the last bit also stands for the bits below it (a
    /// sticky bit).
    Finite {
        /// Whether the sign is set, also that of a zero.
        negative: bool,
        /// Without its sign.
        magnitude: u128,
        /// The weight of its last bit.
        exponent: i32,
    },
}

impl Float {
    /// Takes a number apart.
    pub fn decode(format: Format, bits: u64) -> Float {
        let negative = bits & format.sign() != 0;
        let fraction = bits & ((1 << format.fraction) - 1);
        let biased = (bits & !format.sign()) >> format.fraction;
        let last = format.least() - format.fraction as i32;
        match biased {
            0 => Float::Finite { negative, magnitude: fraction.into(), exponent: last },
            b if b << format.fraction == format.infinity() => {
                if fraction == 0 {
                    Float::Infinite { negative }
                } else {
                    Float::Nan
                }
            }
            b => {
                let magnitude = u128::from(fraction | 1 << format.fraction);
                Float::Finite { negative, magnitude, exponent: last + b as i32 - 1 }
            }
        }
    }

    /// An integer.
    pub fn integer(n: i128) -> Float {
        Float::Finite { negative: n < 0, magnitude: n.unsigned_abs(), exponent: 0 }
    }

    /// The bits of the nearest number of a format; of two that are as near, the one whose last bit is 0.
    pub fn round(self, format: Format) -> u64 {
        let signed = |negative: bool, bits: u64| if negative { bits | format.sign() } else { bits };
        let (negative, magnitude, exponent) = match self {
            Float::Nan => return format.infinity() | 1 << (format.fraction - 1),
            Float::Infinite { negative } => return signed(negative, format.infinity()),
            Float::Finite { negative, magnitude: 0, .. } => return signed(negative, 0),
            Float::Finite { negative, magnitude, exponent } => (negative, magnitude, exponent),
        };
        let top = exponent + magnitude.ilog2() as i32;
        let last = top.max(format.least()) - format.fraction as i32;
        let shift = last - exponent;
        let digits = match shift {
            ..=0 => magnitude << -shift,
            1..=127 => {
                let (kept, rest, half) = (magnitude >> shift, magnitude & ((1 << shift) - 1), 1 << (shift - 1));
                let up = rest > half || rest == half && kept & 1 == 1;
                kept + u128::from(up)
            }
            // Half of the last place is 2¹²⁷; a tie goes to 0.
            128 => u128::from(magnitude > 1 << 127),
            _ => 0,
        } as u64;
        if top > format.most() {
            return signed(negative, format.infinity());
        }
        let one = 1 << format.fraction;
        // A carry out of the digits is a carry into the exponent.
        let exponent = (last - format.least() + format.fraction as i32) as u64;
        let bits = if digits < one { digits } else { exponent * one + digits };
        signed(negative, bits)
    }

    /// Half of the last place that a number has in a format, with its sign; `None` if it is not finite.
    pub fn half_unit(self, format: Format) -> Option<Float> {
        let Float::Finite { negative, magnitude, exponent } = self else { return None };
        let top = magnitude.checked_ilog2().map_or(format.least(), |top| exponent + top as i32);
        let last = top.max(format.least()) - format.fraction as i32;
        Some(Float::Finite { negative, magnitude: 1, exponent: last - 1 })
    }

    /// The square root.
    pub fn sqrt(self) -> Float {
        match self {
            Float::Nan | Float::Infinite { negative: true } => Float::Nan,
            Float::Infinite { negative: false } | Float::Finite { magnitude: 0, .. } => self,
            Float::Finite { negative: true, .. } => Float::Nan,
            Float::Finite { magnitude, exponent, .. } => {
                let zeros = magnitude.leading_zeros() as i32;
                // The exponent must be even.
                let shift = zeros - (exponent - zeros).rem_euclid(2);
                let square = magnitude << shift;
                let root = square.isqrt();
                let magnitude = root | u128::from(root * root != square);
                Float::Finite { negative: false, magnitude, exponent: (exponent - shift) / 2 }
            }
        }
    }

    /// Whether the sign is set; `false` of NaN.
    pub fn negative(self) -> bool {
        match self {
            Float::Nan => false,
            Float::Infinite { negative } | Float::Finite { negative, .. } => negative,
        }
    }

    /// Whether it is not a number.
    pub fn is_nan(self) -> bool {
        matches!(self, Float::Nan)
    }

    /// The order of two numbers; `None` with NaN. The zeros are equal.
    pub fn compare(self, other: Float) -> Option<Ordering> {
        match (self, other) {
            (Float::Infinite { negative: a }, Float::Infinite { negative: b }) if a == b => Some(Ordering::Equal),
            _ => match self + -other {
                Float::Nan => None,
                Float::Finite { magnitude: 0, .. } => Some(Ordering::Equal),
                Float::Infinite { negative } | Float::Finite { negative, .. } => {
                    Some(if negative { Ordering::Less } else { Ordering::Greater })
                }
            },
        }
    }

    /// The number truncated to an integer; `None` of NaN. What is beyond all integers of 64 bits is 2⁶⁴ or −2⁶⁴.
    pub fn truncate(self) -> Option<i128> {
        let bound = 1i128 << 64;
        match self {
            Float::Nan => None,
            Float::Infinite { negative } => Some(if negative { -bound } else { bound }),
            Float::Finite { negative, magnitude, exponent } => {
                let whole = match exponent {
                    ..=-128 => 0,
                    -127..=0 => magnitude >> -exponent,
                    // As many bits as the largest.
                    _ if magnitude == 0 => 0,
                    _ if exponent + magnitude.ilog2() as i32 >= 64 => bound as u128,
                    _ => magnitude << exponent,
                };
                let whole = whole.min(bound as u128) as i128;
                Some(if negative { -whole } else { whole })
            }
        }
    }
}

/// The other sign, also of a zero.
impl Neg for Float {
    type Output = Float;

    fn neg(self) -> Float {
        match self {
            Float::Nan => Float::Nan,
            Float::Infinite { negative } => Float::Infinite { negative: !negative },
            Float::Finite { negative, magnitude, exponent } => {
                Float::Finite { negative: !negative, magnitude, exponent }
            }
        }
    }
}

/// Exact for numbers of at most 107 bits, but for what the last bit stands for.
impl Add for Float {
    type Output = Float;

    fn add(self, other: Float) -> Float {
        let ((na, ma, ea), (nb, mb, eb)) = match (self, other) {
            (Float::Nan, _) | (_, Float::Nan) => return Float::Nan,
            (Float::Infinite { negative: a }, Float::Infinite { negative: b }) if a != b => return Float::Nan,
            (Float::Infinite { .. }, _) => return self,
            (_, Float::Infinite { .. }) => return other,
            (Float::Finite { negative, magnitude: 0, exponent }, Float::Finite { negative: b, magnitude: 0, .. }) => {
                return Float::Finite { negative: negative && b, magnitude: 0, exponent };
            }
            (Float::Finite { magnitude: 0, .. }, _) => return other,
            (_, Float::Finite { magnitude: 0, .. }) => return self,
            (
                Float::Finite { negative: na, magnitude: ma, exponent: ea },
                Float::Finite { negative: nb, magnitude: mb, exponent: eb },
            ) => ((na, ma, ea), (nb, mb, eb)),
        };
        // Both in units of one size, in which the larger has 125 bits or the smaller is exact.
        let top = (ea + ma.ilog2() as i32).max(eb + mb.ilog2() as i32);
        let unit = ea.min(eb).max(top - 124);
        let aligned = |negative: bool, magnitude: u128, exponent: i32| {
            let magnitude = match exponent - unit {
                left @ 0.. => magnitude << left,
                right @ -127..0 => (magnitude >> -right) | u128::from(magnitude & ((1 << -right) - 1) != 0),
                _ => 1,
            } as i128;
            if negative { -magnitude } else { magnitude }
        };
        let sum = aligned(na, ma, ea) + aligned(nb, mb, eb);
        Float::Finite { negative: sum < 0, magnitude: sum.unsigned_abs(), exponent: unit }
    }
}

/// Exact for numbers of at most 64 bits.
impl Mul for Float {
    type Output = Float;

    fn mul(self, other: Float) -> Float {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Float::Nan, _) | (_, Float::Nan) => Float::Nan,
            (Float::Infinite { .. }, Float::Finite { magnitude: 0, .. })
            | (Float::Finite { magnitude: 0, .. }, Float::Infinite { .. }) => Float::Nan,
            (Float::Infinite { .. }, _) | (_, Float::Infinite { .. }) => Float::Infinite { negative },
            (Float::Finite { magnitude: ma, exponent: ea, .. }, Float::Finite { magnitude: mb, exponent: eb, .. }) => {
                Float::Finite { negative, magnitude: ma * mb, exponent: ea + eb }
            }
        }
    }
}

/// For numbers of at most 53 bits; the last bit stands for the bits below it.
impl Div for Float {
    type Output = Float;

    fn div(self, other: Float) -> Float {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Float::Nan, _) | (_, Float::Nan) => Float::Nan,
            (Float::Infinite { .. }, Float::Infinite { .. })
            | (Float::Finite { magnitude: 0, .. }, Float::Finite { magnitude: 0, .. }) => Float::Nan,
            (Float::Infinite { .. }, _) | (_, Float::Finite { magnitude: 0, .. }) => Float::Infinite { negative },
            (_, Float::Infinite { .. }) => Float::Finite { negative, magnitude: 0, exponent: 0 },
            (Float::Finite { magnitude: 0, .. }, _) => Float::Finite { negative, magnitude: 0, exponent: 0 },
            (Float::Finite { magnitude: ma, exponent: ea, .. }, Float::Finite { magnitude: mb, exponent: eb, .. }) => {
                let shift = ma.leading_zeros();
                let ma = ma << shift;
                let magnitude = (ma / mb) | u128::from(ma % mb != 0);
                Float::Finite { negative, magnitude, exponent: ea - shift as i32 - eb }
            }
        }
    }
}
