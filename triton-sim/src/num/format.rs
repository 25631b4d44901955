//! The floating-point formats, functions over them, and their numbers as `f64`.

use super::real::{Layout, Value, pack, unpack};
use super::{Float, Round};

/// A format, known when a function is compiled.
pub(super) trait Format {
    const FLOAT: Float;
    const LAYOUT: Layout = Self::FLOAT.layout();
}

macro_rules! formats {
    ($($name:ident)*) => {$(
        pub(super) struct $name;
        impl Format for $name {
            const FLOAT: Float = Float::$name;
        }
    )*};
}
formats! { F16 Bf16 F32 F64 Tf32 E4m3 E5m2 }

/// A rounding, known when a function is compiled.
pub(super) trait Mode {
    const ROUND: Round;
}

macro_rules! modes {
    ($($name:ident)*) => {$(
        pub(super) struct $name;
        impl Mode for $name {
            const ROUND: Round = Round::$name;
        }
    )*};
}
modes! { Nearest Zero Down Up }

/// A function on the bits of numbers.
pub(super) trait Kernel {
    fn eval(a: u64, b: u64, c: u64) -> u64;
}

/// An operation in every format and rounding, without the modifiers.
pub(super) trait Op {
    fn eval<F: Format, R: Mode>(a: u64, b: u64, c: u64) -> u64;
}

/// A subnormal number becomes a zero of its sign.
#[inline(always)]
pub(super) fn flush<F: Format, const FTZ: bool>(bits: u64) -> u64 {
    if FTZ && F::LAYOUT.is_subnormal(bits) { bits & F::LAYOUT.sign() } else { bits }
}

impl Float {
    /// The bit fields (PTX ISA 5.2.1 and 5.2.3).
    pub(super) const fn layout(self) -> Layout {
        let (bits, fraction, min_exponent, max, infinity, nan, spare) = match self {
            Float::F16 => (16, 10, -14, 0x7bff, 0x7c00, 0x7fff, 0),
            Float::Bf16 => (16, 7, -126, 0x7f7f, 0x7f80, 0x7fff, 0),
            Float::F32 => (32, 23, -126, 0x7f7f_ffff, 0x7f80_0000, 0x7fff_ffff, 0),
            Float::F64 => (64, 52, -1022, 0x7fef_ffff_ffff_ffff, 0x7ff0_0000_0000_0000, 0xfff8_0000_0000_0000, 0),
            Float::Tf32 => (32, 10, -126, 0x7f7f_e000, 0x7f80_0000, 0x7fff_e000, 13),
            Float::E4m3 => (8, 3, -6, 0x7e, 0x7f, 0x7f, 0),
            Float::E5m2 => (8, 2, -14, 0x7b, 0x7c, 0x7f, 0),
        };
        Layout { bits, fraction, min_exponent, max, infinity, nan, spare }
    }
}

/// The value of a number; every one is exact. A NaN becomes a NaN.
#[inline]
pub fn to_f64(ty: Float, bits: u64) -> f64 {
    match ty {
        Float::F64 => f64::from_bits(bits),
        Float::F32 => f32::from_bits(bits as u32).into(),
        Float::Tf32 => f32::from_bits(bits as u32 & 0xffff_e000).into(),
        Float::Bf16 => f32::from_bits((bits as u32) << 16).into(),
        Float::F16 => small_to_f64(F16::LAYOUT, bits),
        Float::E4m3 => small_to_f64(E4m3::LAYOUT, bits),
        Float::E5m2 => small_to_f64(E5m2::LAYOUT, bits),
    }
}

#[inline(always)]
fn small_to_f64(layout: Layout, bits: u64) -> f64 {
    let magnitude = bits & (layout.sign() - 1);
    let sign = (bits & layout.sign()) << (64 - layout.bits);
    let magnitude = if magnitude > layout.max {
        if layout.is_nan(bits) { f64::NAN.to_bits() } else { f64::INFINITY.to_bits() }
    } else if magnitude < layout.min_normal() {
        // The exponent field is that of the unit, as a power of two.
        let unit = f64::from_bits(((1023 + layout.min_exponent - layout.fraction as i32) as u64) << 52);
        (magnitude as f64 * unit).to_bits()
    } else {
        (magnitude << (52 - layout.fraction)) + (((1022 + layout.min_exponent) as u64) << 52)
    };
    f64::from_bits(sign | magnitude)
}

/// The number of a type nearest to `x` in the direction of the rounding. NaN becomes the canonical NaN of the type.
#[inline]
pub fn from_f64(ty: Float, x: f64, round: Round) -> u64 {
    match (ty, round) {
        (Float::F64, _) if !x.is_nan() => x.to_bits(),
        (Float::F32, Round::Nearest) if !x.is_nan() => (x as f32).to_bits().into(),
        _ => pack(ty.layout(), value(x), round, false),
    }
}

/// The exact value of an `f64`.
pub(super) fn value(x: f64) -> Value {
    unpack(Float::F64.layout(), x.to_bits())
}
