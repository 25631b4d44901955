//! Types of operands, and the values of each that are worth trying.

use crate::random::Random;

/// A binary floating-point format: sign, exponent and fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
}

impl Format {
    /// Bits of a value.
    pub fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// What is added to an exponent.
    pub fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of `(1 + fraction / 2^fraction bits) * 2^exponent`, and of less digits where it is subnormal.
    /// Zero if it is below all of them, the largest exponent if it is above.
    pub fn compose(self, negative: bool, exponent: i32, fraction: u64) -> u64 {
        let sign = u64::from(negative) << (self.bits() - 1);
        let biased = exponent + self.bias();
        let fraction = fraction & ((1 << self.fraction) - 1);
        if biased > 0 {
            let biased = biased.min((1 << self.exponent) - 1) as u64;
            return sign | biased << self.fraction | fraction;
        }
        let shift = (1 - biased) as u32;
        sign | ((1 << self.fraction) | fraction).checked_shr(shift).unwrap_or(0)
    }
}

/// Formats by name; of `tf32` the bits of an f32.
pub const F16: Format = Format { exponent: 5, fraction: 10 };
/// See [`F16`].
pub const BF16: Format = Format { exponent: 8, fraction: 7 };
/// See [`F16`].
pub const F32: Format = Format { exponent: 8, fraction: 23 };
/// See [`F16`].
pub const F64: Format = Format { exponent: 11, fraction: 52 };
/// See [`F16`].
pub const E4M3: Format = Format { exponent: 4, fraction: 3 };
/// See [`F16`].
pub const E5M2: Format = Format { exponent: 5, fraction: 2 };

/// What the bits of an operand mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer, or bits.
    Integer,
    /// An integer other than 0 and -1: a divisor.
    Divisor,
    /// A number of bits or a position: mostly below 70.
    Amount,
    /// Zero or not.
    Predicate,
    /// A floating-point number.
    Float(Format),
    /// A floating-point number with an exponent from -10 to 8.
    Moderate(Format),
    /// Few different values, so that lanes agree.
    Few,
}

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperandType {
    /// As tables write it.
    pub name: &'static str,
    /// Bytes of its register; of a predicate, of the integer that it is made from.
    pub bytes: usize,
    /// Values side by side.
    pub lanes: u32,
    /// What they are.
    pub value: Value,
}

const fn operand_type(name: &'static str, bytes: usize, lanes: u32, value: Value) -> OperandType {
    OperandType { name, bytes, lanes, value }
}

/// All types.
pub const OPERAND_TYPES: &[OperandType] = &[
    operand_type("pred", 4, 1, Value::Predicate),
    // A register may be wider than the type of the instruction.
    operand_type("u8", 4, 1, Value::Integer),
    operand_type("s8", 4, 1, Value::Integer),
    operand_type("u16", 2, 1, Value::Integer),
    operand_type("s16", 2, 1, Value::Integer),
    operand_type("b16", 2, 1, Value::Integer),
    operand_type("u32", 4, 1, Value::Integer),
    operand_type("s32", 4, 1, Value::Integer),
    operand_type("b32", 4, 1, Value::Integer),
    operand_type("u64", 8, 1, Value::Integer),
    operand_type("s64", 8, 1, Value::Integer),
    operand_type("b64", 8, 1, Value::Integer),
    operand_type("b128", 16, 2, Value::Integer),
    operand_type("u16x2", 4, 2, Value::Integer),
    operand_type("s16x2", 4, 2, Value::Integer),
    operand_type("b8x4", 4, 4, Value::Integer),
    operand_type("u16nz", 2, 1, Value::Divisor),
    operand_type("s16nz", 2, 1, Value::Divisor),
    operand_type("u32nz", 4, 1, Value::Divisor),
    operand_type("s32nz", 4, 1, Value::Divisor),
    operand_type("u64nz", 8, 1, Value::Divisor),
    operand_type("s64nz", 8, 1, Value::Divisor),
    operand_type("amount", 4, 1, Value::Amount),
    operand_type("few32", 4, 1, Value::Few),
    operand_type("few64", 8, 1, Value::Few),
    operand_type("f16", 2, 1, Value::Float(F16)),
    operand_type("bf16", 2, 1, Value::Float(BF16)),
    operand_type("f16x2", 4, 2, Value::Float(F16)),
    operand_type("bf16x2", 4, 2, Value::Float(BF16)),
    operand_type("f32", 4, 1, Value::Float(F32)),
    operand_type("tf32", 4, 1, Value::Float(F32)),
    operand_type("f64", 8, 1, Value::Float(F64)),
    operand_type("f16m", 2, 1, Value::Moderate(F16)),
    operand_type("bf16m", 2, 1, Value::Moderate(BF16)),
    operand_type("f32m", 4, 1, Value::Moderate(F32)),
    operand_type("f64m", 8, 1, Value::Moderate(F64)),
    operand_type("e4m3x2", 2, 2, Value::Float(E4M3)),
    operand_type("e5m2x2", 2, 2, Value::Float(E5M2)),
];

impl OperandType {
    /// The type of a name.
    pub fn named(name: &str) -> Option<OperandType> {
        OPERAND_TYPES.iter().copied().find(|k| k.name == name)
    }

    /// Bits of one value.
    pub fn lane_bits(self) -> u32 {
        self.bytes as u32 * 8 / self.lanes
    }

    /// A value for an operand; `before` are the bits of the operands of the same type before it.
    pub fn sample(self, random: &mut Random, before: &[u128]) -> u128 {
        let bits = self.lane_bits();
        (0..self.lanes).fold(0, |all, lane| {
            let before: Vec<u64> = before.iter().map(|b| mask((b >> (lane * bits)) as u64, bits)).collect();
            all | u128::from(self.lane(random, &before)) << (lane * bits)
        })
    }

    fn lane(self, random: &mut Random, before: &[u64]) -> u64 {
        let bits = self.lane_bits();
        let fresh = match self.value {
            Value::Integer => integer(random, bits),
            Value::Divisor => match integer(random, bits) {
                0 => 3,
                minus if minus == mask(u64::MAX, bits) => 5,
                other => other,
            },
            Value::Amount if random.below(8) == 0 => integer(random, bits),
            Value::Amount => random.below(70),
            Value::Predicate => random.below(2),
            Value::Float(format) => float(random, format),
            Value::Moderate(format) => {
                let exponent = random.between(-10, 8);
                format.compose(random.below(2) == 0, exponent, random.bits())
            }
            Value::Few => random.below(3) * 0x0102_0304_0506_0708,
        };
        related(random, self.value, bits, before).unwrap_or(mask(fresh, bits))
    }
}

/// The low bits.
fn mask(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}

/// Values that cancel, are equal, or lie side by side are what random ones never are.
fn related(random: &mut Random, value: Value, bits: u32, before: &[u64]) -> Option<u64> {
    let (Value::Integer | Value::Float(_)) = value else { return None };
    let last = *before.last()?;
    let chosen = match random.below(20) {
        0 => last,
        1 => last.wrapping_add(1),
        2 => last.wrapping_sub(1),
        3 if value == Value::Integer => last.wrapping_neg(),
        3 => last ^ 1 << (bits - 1),
        4..8 if value != Value::Integer && before.len() >= 2 => minus_product(bits, before[0], before[1])?,
        _ => return None,
    };
    Some(mask(chosen, bits))
}

/// The negated product, rounded: what is left of a fused addition is the rounding error.
fn minus_product(bits: u32, a: u64, b: u64) -> Option<u64> {
    match bits {
        32 => {
            let product = f64::from(f32::from_bits(a as u32)) * f64::from(f32::from_bits(b as u32));
            (!product.is_nan()).then(|| u64::from((-product as f32).to_bits()))
        }
        64 => {
            let product = f64::from_bits(a) * f64::from_bits(b);
            (!product.is_nan()).then(|| (-product).to_bits())
        }
        _ => None,
    }
}

fn integer(random: &mut Random, bits: u32) -> u64 {
    let top = 1u64 << (bits - 1);
    match random.below(8) {
        0 | 1 => {
            let borders = [0, 1, 2, 3, u64::MAX, u64::MAX - 1, top, top + 1, top - 1, top - 2, 0x7f, 0x80, 0xff, 0x100];
            random.pick(&borders)
        }
        2 => (1u64 << random.below(u64::from(bits))).wrapping_add(random.below(3)).wrapping_sub(1),
        3 => random.below(200).wrapping_sub(100),
        4 | 5 => {
            let wide = random.bits() >> random.below(64);
            if random.below(2) == 0 { wide } else { wide.wrapping_neg() }
        }
        _ => random.bits(),
    }
}

fn float(random: &mut Random, format: Format) -> u64 {
    let negative = random.below(2) == 0;
    let sign = u64::from(negative) << (format.bits() - 1);
    let infinity = ((1u64 << format.exponent) - 1) << format.fraction;
    let one = (format.bias() as u64) << format.fraction;
    if format.bits() == 8 {
        return random.bits();
    }
    match random.below(16) {
        0..5 => {
            let normal = 1u64 << format.fraction;
            let quiet = 1u64 << (format.fraction - 1);
            let special = [
                0,
                0,
                infinity,
                infinity | quiet,
                infinity | quiet | 1,
                infinity | 1,
                1,
                2,
                normal - 1,
                normal,
                normal + 1,
                infinity - 1,
                one,
                one - 1,
                one + 1,
                one - normal,
                one + normal,
                one + quiet,
                random.bits() % normal,
                random.bits() % normal,
            ];
            sign | random.pick(&special)
        }
        5..8 => random.bits(),
        8..13 => {
            let (first, last) = random.pick(&[(-3, 3), (-26, 24), (-3, 66), (-152, 130)]);
            // Few digits, so that a narrower type meets its middle between two values; or one unit beside it.
            let digits = random.below(u64::from(format.fraction.min(25)) + 1) as u32;
            let keep = !(u64::MAX.checked_shr(64 - format.fraction + digits).unwrap_or(0));
            let value = format.compose(negative, random.between(first, last), random.bits() & keep);
            match random.below(4) {
                0 => value.wrapping_add(1),
                1 => value.wrapping_sub(1),
                _ => value,
            }
        }
        _ => format.compose(negative, random.between(-2, 2), random.bits()),
    }
}
