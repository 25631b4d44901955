//! The arithmetic of PTX as functions on bits.
//!
//! A value of any type is its bit pattern, zero-extended to 64 bits; so are signed integers. A lookup such as
//! [`float_op`] is made once for an instruction and returns a plain function for the inner loop. The lookups answer
//! `None` for a form that PTX does not have.
//!
//! Exact operations (rounded once, as the PTX ISA says) are bit-exact. Those that PTX calls approximate are computed in
//! double precision and rounded to nearest: a chip may differ in the last bits.
//!
//! All but the approximate operations were compared with an H200, bit by bit. Where it differs from the ISA, this does
//! what it does: in `bfe` and `bfi` of 64 bits with a start or length above 255, in `cvt.{rm,rp}.ftz.f16.f32`, which does not
//! flush, and in `cvt.rna.tf32.f32` of NaN.

mod approx;
mod bits;
mod compare;
mod convert;
mod dot;
mod float;
mod format;
mod integer;
mod pack;
mod real;
#[cfg(test)]
mod tests;

pub use bits::{BitOp, Permute, add_carry, bfi, bit_op, lop3, prmt, sub_borrow};
pub use compare::{Compare, Test, compare, testp};
pub use convert::convert;
pub use dot::{Accumulate, Order, accumulate_f16, accumulate_f32, accumulate_f64, accumulate_s32};
pub use float::{FloatOp, float_op, packed_op};
pub use format::{from_f64, to_f64};
pub use integer::{IntOp, dp2a, dp4a, int_op, packed_int_op, undefined_division};
pub use pack::{convert_packed, convert_pair, cvt_pack};

/// An operation: up to three operands to a result. Operands that the operation does not have are ignored.
pub type Scalar = fn(u64, u64, u64) -> u64;

/// The floating-point types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// IEEE binary16.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// An `f32` of which the low 13 bits are ignored.
    Tf32,
    /// 4 exponent bits, 3 fraction bits, no infinities.
    E4m3,
    /// 5 exponent bits, 2 fraction bits.
    E5m2,
}

/// The integer types. An untyped operand (`.b32`) is the unsigned type of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum Int {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
}

/// A numeric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Num {
    /// An integer.
    Int(Int),
    /// A floating-point number.
    Float(Float),
}

/// The direction of a rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Round {
    /// `.rn`, `.rni`: to nearest, ties to even.
    #[default]
    Nearest,
    /// `.rz`, `.rzi`: toward zero.
    Zero,
    /// `.rm`, `.rmi`: toward negative infinity.
    Down,
    /// `.rp`, `.rpi`: toward positive infinity.
    Up,
    /// `.rna`: to nearest, ties away from zero; conversions to `tf32` alone have it.
    NearestAway,
}

/// The modifiers of a floating-point instruction or a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// The rounding; `.rn` where none is written.
    pub round: Round,
    /// The rounding is to an integer: `.rni` and the like.
    pub integral: bool,
    /// `.ftz`: subnormal inputs and results become zeros of their sign.
    pub ftz: bool,
    /// `.sat`: to [0, 1] and NaN to +0 for a floating-point result, to the range of the type for an integer.
    pub sat: bool,
    /// `.satfinite`: what overflows becomes the largest finite number of its sign.
    pub satfinite: bool,
    /// `.relu`: negative results become +0, NaN the canonical NaN.
    pub relu: bool,
    /// `.approx`.
    pub approx: bool,
    /// `.full`, of `div` alone.
    pub full: bool,
    /// `.NaN`, of `min` and `max` alone.
    pub nan: bool,
    /// `.xorsign.abs`, of `min` and `max` alone.
    pub xorsign: bool,
}
