//! Integer arithmetic (PTX ISA 9.7.1).

use super::{Int, Scalar};

/// An integer instruction of up to three operands. `mul24` and `mad24` read the low 24 bits of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum IntOp {
    Add,
    Sub,
    AddSat,
    SubSat,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadHiSat,
    MadWide,
    Mul24Lo,
    Mul24Hi,
    Mad24Lo,
    Mad24Hi,
    Mad24HiSat,
    Sad,
    Div,
    Rem,
    Abs,
    Neg,
    Min,
    Max,
    MinRelu,
    MaxRelu,
}

/// The function of an instruction on operands of a type; `None` where PTX has no such form. The result of the `wide`
/// forms, and their third operand, has twice the width.
pub fn int_op(op: IntOp, ty: Int) -> Option<Scalar> {
    match ty {
        Int::U8 | Int::S8 => None,
        Int::U16 => common::<u16>(op).or_else(|| wide::<u16, u32>(op)),
        Int::U32 => common::<u32>(op).or_else(|| wide::<u32, u64>(op)).or_else(|| of_32_bits::<u32>(op)),
        Int::U64 => common::<u64>(op),
        Int::S16 => common::<i16>(op).or_else(|| wide::<i16, i32>(op)).or_else(|| signed::<i16>(op)),
        Int::S32 => common::<i32>(op)
            .or_else(|| wide::<i32, i64>(op))
            .or_else(|| signed::<i32>(op))
            .or_else(|| of_32_bits::<i32>(op))
            .or_else(|| saturating(op)),
        Int::S64 => common::<i64>(op).or_else(|| signed::<i64>(op)),
    }
}

/// The function of an instruction on both halves of a 32-bit register: `u16x2` and `s16x2`.
pub fn packed_int_op(op: IntOp, ty: Int) -> Option<Scalar> {
    match (op, ty) {
        (IntOp::Add, Int::U16 | Int::S16) => Some(|a, b, _| halves(a, b, u16::wrapping_add)),
        (IntOp::Min, Int::U16) => Some(|a, b, _| halves(a, b, u16::min)),
        (IntOp::Max, Int::U16) => Some(|a, b, _| halves(a, b, u16::max)),
        (IntOp::Min, Int::S16) => Some(|a, b, _| halves(a, b, i16::min)),
        (IntOp::Max, Int::S16) => Some(|a, b, _| halves(a, b, i16::max)),
        (IntOp::MinRelu, Int::S16) => Some(|a, b, _| halves(a, b, |a: i16, b| a.min(b).max(0))),
        (IntOp::MaxRelu, Int::S16) => Some(|a, b, _| halves(a, b, |a: i16, b| a.max(b).max(0))),
        _ => None,
    }
}

#[inline(always)]
fn halves<T: Integer>(a: u64, b: u64, of: impl Fn(T, T) -> T) -> u64 {
    of(T::of(a >> 16), T::of(b >> 16)).bits() << 16 | of(T::of(a), T::of(b)).bits()
}

/// Whether the ISA leaves quotient and remainder unspecified: of a zero divisor, and of the smallest number by -1. The
/// functions then give what the chips' code gives: all ones, respectively the wrapped quotient and 0.
pub fn undefined_division(ty: Int, dividend: u64, divisor: u64) -> bool {
    fn undefined<T: Integer>(a: u64, b: u64) -> bool {
        T::of(b).wide() == 0 || (T::of(b).wide() == -1 && T::of(a).wide() == -1 << (T::BITS - 1))
    }
    match ty {
        Int::U8 => undefined::<u8>(dividend, divisor),
        Int::S8 => undefined::<i8>(dividend, divisor),
        Int::U16 => undefined::<u16>(dividend, divisor),
        Int::S16 => undefined::<i16>(dividend, divisor),
        Int::U32 => undefined::<u32>(dividend, divisor),
        Int::S32 => undefined::<i32>(dividend, divisor),
        Int::U64 => undefined::<u64>(dividend, divisor),
        Int::S64 => undefined::<i64>(dividend, divisor),
    }
}

/// An integer type of PTX as one of the host.
pub(super) trait Integer: Copy + Ord {
    /// The width.
    const BITS: u32;
    /// Whether it is signed.
    const SIGNED: bool;
    /// The value of a bit pattern; the upper bits are ignored.
    fn of(bits: u64) -> Self;
    /// The bit pattern.
    fn bits(self) -> u64;
    /// The value; `u64` fits too.
    fn wide(self) -> i128;
    /// The low bits of a number.
    fn wrap(x: i128) -> Self;
    /// The nearest number of the type.
    fn saturate(x: i128) -> Self;
    /// The nearest number of the type to an integer; 0 of NaN.
    fn clamp_f64(x: f64) -> Self;
    /// Rounded to nearest.
    fn to_f32(self) -> f32;
    /// Rounded to nearest.
    fn to_f64(self) -> f64;
    fn quotient(self, divisor: Self) -> Self;
    fn remainder(self, divisor: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ident $unsigned:ident $signed:literal)*) => {$(
        impl Integer for $ty {
            const BITS: u32 = $ty::BITS;
            const SIGNED: bool = $signed;
            #[inline(always)]
            fn of(bits: u64) -> Self {
                bits as $ty
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as $unsigned as u64
            }
            #[inline(always)]
            fn wide(self) -> i128 {
                self.into()
            }
            #[inline(always)]
            fn wrap(x: i128) -> Self {
                x as $ty
            }
            #[inline(always)]
            fn saturate(x: i128) -> Self {
                x.clamp($ty::MIN.into(), $ty::MAX.into()) as $ty
            }
            #[inline(always)]
            fn clamp_f64(x: f64) -> Self {
                x as $ty
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn quotient(self, divisor: Self) -> Self {
                if divisor == 0 { !0 } else { self.wrapping_div(divisor) }
            }
            #[inline(always)]
            fn remainder(self, divisor: Self) -> Self {
                if divisor == 0 { !0 } else { self.wrapping_rem(divisor) }
            }
        }
    )*};
}
integers! {
    u8 u8 false  i8 u8 true  u16 u16 false  i16 u16 true
    u32 u32 false  i32 u32 true  u64 u64 false  i64 u64 true
}

/// The exact product; of 64-bit numbers its low 128 bits.
#[inline(always)]
fn product<T: Integer>(a: u64, b: u64) -> i128 {
    T::of(a).wide().wrapping_mul(T::of(b).wide())
}

/// The upper half of the product.
#[inline(always)]
fn high<T: Integer>(a: u64, b: u64) -> i128 {
    product::<T>(a, b) >> T::BITS
}

/// The function beside the instruction.
pub(super) fn in_table<O: Copy + PartialEq>(op: O, table: &[(O, Scalar)]) -> Option<Scalar> {
    table.iter().find(|(known, _)| *known == op).map(|(_, function)| *function)
}

/// The instructions of all types. Sums, differences and low products have the same low bits in every width.
fn common<T: Integer>(op: IntOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (IntOp::Add, |a, b, _| T::of(a.wrapping_add(b)).bits()),
            (IntOp::Sub, |a, b, _| T::of(a.wrapping_sub(b)).bits()),
            (IntOp::MulLo, |a, b, _| T::of(a.wrapping_mul(b)).bits()),
            (IntOp::MadLo, |a, b, c| T::of(a.wrapping_mul(b).wrapping_add(c)).bits()),
            (IntOp::MulHi, |a, b, _| T::wrap(high::<T>(a, b)).bits()),
            (IntOp::MadHi, |a, b, c| T::of((high::<T>(a, b) as u64).wrapping_add(c)).bits()),
            (IntOp::Sad, |a, b, c| T::of((T::of(a).wide().abs_diff(T::of(b).wide()) as u64).wrapping_add(c)).bits()),
            (IntOp::Div, |a, b, _| T::of(a).quotient(T::of(b)).bits()),
            (IntOp::Rem, |a, b, _| T::of(a).remainder(T::of(b)).bits()),
            (IntOp::Min, |a, b, _| T::of(a).min(T::of(b)).bits()),
            (IntOp::Max, |a, b, _| T::of(a).max(T::of(b)).bits()),
        ],
    )
}

/// `mul.wide` and `mad.wide`, of which the result is of the type `W`.
fn wide<T: Integer, W: Integer>(op: IntOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (IntOp::MulWide, |a, b, _| W::wrap(product::<T>(a, b)).bits()),
            (IntOp::MadWide, |a, b, c| W::of((product::<T>(a, b) as u64).wrapping_add(c)).bits()),
        ],
    )
}

/// The instructions of signed types. The smallest number is its own negation.
fn signed<T: Integer>(op: IntOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (IntOp::Abs, |a, _, _| T::wrap(T::of(a).wide().abs()).bits()),
            (IntOp::Neg, |a, _, _| T::of(a.wrapping_neg()).bits()),
        ],
    )
}

/// The product of the low 24 bits.
#[inline(always)]
fn product24<T: Integer>(a: u64, b: u64) -> i64 {
    let of = |x: u64| if T::SIGNED { i64::from((x as i32) << 8 >> 8) } else { (x & 0xff_ffff) as i64 };
    of(a) * of(b)
}

/// The instructions of 32-bit types.
fn of_32_bits<T: Integer>(op: IntOp) -> Option<Scalar> {
    in_table(
        op,
        &[
            (IntOp::Mul24Lo, |a, b, _| product24::<T>(a, b) as u32 as u64),
            (IntOp::Mul24Hi, |a, b, _| (product24::<T>(a, b) >> 16) as u32 as u64),
            (IntOp::Mad24Lo, |a, b, c| (product24::<T>(a, b) as u32).wrapping_add(c as u32).into()),
            (IntOp::Mad24Hi, |a, b, c| ((product24::<T>(a, b) >> 16) as u32).wrapping_add(c as u32).into()),
        ],
    )
}

/// The instructions of `s32` alone.
fn saturating(op: IntOp) -> Option<Scalar> {
    fn clamped(x: i128) -> u64 {
        i32::saturate(x).bits()
    }
    fn s32(bits: u64) -> i128 {
        i32::of(bits).wide()
    }
    in_table(
        op,
        &[
            (IntOp::AddSat, |a, b, _| clamped(s32(a) + s32(b))),
            (IntOp::SubSat, |a, b, _| clamped(s32(a) - s32(b))),
            (IntOp::MadHiSat, |a, b, c| clamped(high::<i32>(a, b) + s32(c))),
            (IntOp::Mad24HiSat, |a, b, c| clamped(i128::from(product24::<i32>(a, b) >> 16) + s32(c))),
            (IntOp::MinRelu, |a, b, _| i32::of(a).min(i32::of(b)).max(0).bits()),
            (IntOp::MaxRelu, |a, b, _| i32::of(a).max(i32::of(b)).max(0).bits()),
        ],
    )
}

/// Byte `i` of a register, or its 16-bit part.
#[inline(always)]
fn part<T: Integer>(bits: u64, i: u32) -> u32 {
    T::of(bits >> (i * T::BITS)).wide() as u32
}

/// `dp4a`: the dot product of four bytes, plus `c`; whether the bytes of `a` and `b` are signed is given.
pub fn dp4a(a_signed: bool, b_signed: bool) -> Scalar {
    fn dot<A: Integer, B: Integer>(a: u64, b: u64, c: u64) -> u64 {
        let sum = |sum: u32, i| sum.wrapping_add(part::<A>(a, i).wrapping_mul(part::<B>(b, i)));
        (0..4).fold(c as u32, sum).into()
    }
    match (a_signed, b_signed) {
        (false, false) => dot::<u8, u8>,
        (false, true) => dot::<u8, i8>,
        (true, false) => dot::<i8, u8>,
        (true, true) => dot::<i8, i8>,
    }
}

/// `dp2a`: the dot product of the 16-bit halves of `a` with two bytes of `b` (the upper two if `high`), plus `c`.
pub fn dp2a(high: bool, a_signed: bool, b_signed: bool) -> Scalar {
    fn dot<A: Integer, B: Integer, const FIRST: u32>(a: u64, b: u64, c: u64) -> u64 {
        let sum = |sum: u32, i| sum.wrapping_add(part::<A>(a, i).wrapping_mul(part::<B>(b, i + FIRST)));
        (0..2).fold(c as u32, sum).into()
    }
    match (high, a_signed, b_signed) {
        (false, false, false) => dot::<u16, u8, 0>,
        (false, false, true) => dot::<u16, i8, 0>,
        (false, true, false) => dot::<i16, u8, 0>,
        (false, true, true) => dot::<i16, i8, 0>,
        (true, false, false) => dot::<u16, u8, 2>,
        (true, false, true) => dot::<u16, i8, 2>,
        (true, true, false) => dot::<i16, u8, 2>,
        (true, true, true) => dot::<i16, i8, 2>,
    }
}
