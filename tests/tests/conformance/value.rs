//! Elements as bits: what an element type's bits mean, what is expected of them, and how they are printed.

use crate::float::{Float, Format, power};
use triton_core::types::{Class, DType};

/// What an element should be.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// These bits; any NaN for a NaN.
    Bits(u64),
    /// A float within a distance of a number.
    Near {
        /// The number, exact but for the rounding of `f64`.
        exact: f64,
        /// The largest distance.
        error: f64,
    },
    /// Anything.
    Any,
}

impl Expected {
    /// A number within this many units in the last place of a format.
    pub fn within(dtype: DType, exact: f64, ulps: f64) -> Expected {
        let unit = Format::of(dtype).map_or(0.0, |format| format.unit(exact));
        Expected::Near { exact, error: ulps * unit }
    }

    /// Whether an element is as expected.
    pub fn admits(self, dtype: DType, found: u64) -> bool {
        let Some(format) = Format::of(dtype) else {
            return match self {
                Expected::Bits(bits) => found == bits,
                Expected::Any => true,
                Expected::Near { .. } => false,
            };
        };
        match self {
            Expected::Bits(bits) => found == bits || is_nan(dtype, found) && is_nan(dtype, bits),
            Expected::Any => true,
            Expected::Near { exact, .. } if exact.is_nan() => is_nan(dtype, found),
            Expected::Near { exact, error } => !is_nan(dtype, found) && distance(format, dtype, found, exact) <= error,
        }
    }

    /// In words, with how far away a float is.
    pub fn describe(self, dtype: DType, found: u64) -> String {
        let ulps = |exact: f64| match Format::of(dtype) {
            Some(format) if !is_nan(dtype, found) && !exact.is_nan() => {
                format!(", {:.3} ulp off", distance(format, dtype, found, exact) / format.unit(exact))
            }
            _ => String::new(),
        };
        match self {
            Expected::Bits(bits) => {
                let off = if dtype.is_float() { ulps(to_f64(dtype, bits)) } else { String::new() };
                format!("{}{off}", show(dtype, bits))
            }
            Expected::Near { exact, error } => {
                let most = Format::of(dtype).map_or(0.0, |format| error / format.unit(exact));
                format!("{exact:e} within {most:.3} ulp{}", ulps(exact))
            }
            Expected::Any => "anything".to_string(),
        }
    }
}

/// The distance of a float that is not NaN from a number. ∞ counts as what would come after the largest number.
fn distance(format: Format, dtype: DType, found: u64, exact: f64) -> f64 {
    let beyond = power(format.most()) * 2.0;
    if beyond.is_infinite() {
        let found = to_f64(dtype, found);
        return if found == exact { 0.0 } else { (found - exact).abs() };
    }
    (to_f64(dtype, found).clamp(-beyond, beyond) - exact.clamp(-beyond, beyond)).abs()
}

/// The bits that an element type has.
pub fn mask(dtype: DType) -> u64 {
    if dtype == DType::Bool { 1 } else { u64::MAX >> (64 - dtype.bits()) }
}

/// The value of an integer or `bool`; 0 of a float.
pub fn integer(dtype: DType, bits: u64) -> i128 {
    match dtype.class() {
        Class::Bool | Class::Unsigned => bits.into(),
        Class::Signed => {
            let sign = 1i128 << (dtype.bits() - 1);
            (i128::from(bits) ^ sign) - sign
        }
        Class::Float => 0,
    }
}

/// The bits of an integer, wrapped to its type.
pub fn wrap(dtype: DType, n: i128) -> u64 {
    n as u64 & mask(dtype)
}

/// The least and the largest integer of a type.
pub fn range(dtype: DType) -> (i128, i128) {
    match dtype.class() {
        Class::Signed => (-(1 << (dtype.bits() - 1)), (1 << (dtype.bits() - 1)) - 1),
        Class::Bool | Class::Unsigned | Class::Float => (0, mask(dtype).into()),
    }
}

/// A float taken apart; NaN of what is none.
pub fn float(dtype: DType, bits: u64) -> Float {
    Format::of(dtype).map_or(Float::Nan, |format| Float::decode(format, bits))
}

/// The bits of the float of a type next to a number.
pub fn round(dtype: DType, x: Float) -> u64 {
    Format::of(dtype).map_or(0, |format| x.round(format))
}

/// A number as `f64`: exact, but for 64-bit integers.
pub fn to_f64(dtype: DType, bits: u64) -> f64 {
    match dtype.class() {
        Class::Bool | Class::Signed | Class::Unsigned => integer(dtype, bits) as f64,
        Class::Float => f64::from_bits(round(DType::F64, float(dtype, bits))),
    }
}

/// The bits of the element of a type next to a number: an integer's without the fraction.
pub fn from_f64(dtype: DType, x: f64) -> u64 {
    match dtype.class() {
        Class::Float => round(dtype, float(DType::F64, x.to_bits())),
        Class::Bool | Class::Signed | Class::Unsigned => wrap(dtype, x as i128),
    }
}

/// Whether it is not a number.
pub fn is_nan(dtype: DType, bits: u64) -> bool {
    dtype.is_float() && float(dtype, bits).is_nan()
}

/// As a person reads it: a float with its bits.
pub fn show(dtype: DType, bits: u64) -> String {
    match dtype.class() {
        Class::Bool if bits < 2 => (bits != 0).to_string(),
        Class::Bool | Class::Signed | Class::Unsigned => integer(dtype, bits).to_string(),
        Class::Float => format!("{:e} ({bits:#x})", to_f64(dtype, bits)),
    }
}
