//! Floating-point instructions: `add` `sub` `mul` `fma` `div` `sqrt` `rcp` `neg` `abs` `min` `max` `copysign` and the
//! approximate functions (PTX ISA 9.7.3 to 9.7.5).

use std::marker::PhantomData;

use super::approx::{Ex2, Lg2, Reciprocal, Sine, Tanh};
use super::format::{Bf16, Down, F16, F32, F64, Format, Kernel, Mode, Nearest, Op, Up, Zero, flush};
use super::real::{self, Value, pack, unpack};
use super::{Flags, Float, Round, Scalar};

/// A floating-point instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of PTX")]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    /// Also `mad`, which is the same for all chips this knows of.
    Fma,
    /// `fma.oob` of `f16` and `bf16`: +0 if a factor is the NaN that stands for an element out of bounds.
    FmaOob,
    Div,
    Sqrt,
    Rcp,
    Rsqrt,
    Neg,
    Abs,
    Min,
    Max,
    /// The magnitude of the second operand with the sign of the first.
    Copysign,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
}

/// The function of an instruction on one number; `None` where PTX has no such form.
///
/// NaN results of `f32`, `f16` and `bf16` are the canonical NaN. Those of `f64` are a NaN operand made quiet, or else a
/// negative quiet NaN without payload. The ISA leaves this unspecified; it is so on Hopper.
pub fn float_op(op: FloatOp, ty: Float, flags: Flags) -> Option<Scalar> {
    lookup::<Whole>(op, ty, flags)
}

/// The function of an instruction on both halves of a 32-bit register: `f16x2` and `bf16x2`.
pub fn packed_op(op: FloatOp, ty: Float, flags: Flags) -> Option<Scalar> {
    matches!(ty, Float::F16 | Float::Bf16).then(|| lookup::<Halves>(op, ty, flags)).flatten()
}

/// How a function is applied to registers.
trait Lanes {
    fn lift<K: Kernel>() -> Scalar;
}

struct Whole;
impl Lanes for Whole {
    fn lift<K: Kernel>() -> Scalar {
        K::eval
    }
}

struct Halves;
impl Lanes for Halves {
    fn lift<K: Kernel>() -> Scalar {
        |a, b, c| {
            let high = K::eval(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff);
            high << 16 | K::eval(a & 0xffff, b & 0xffff, c & 0xffff)
        }
    }
}

fn lookup<L: Lanes>(op: FloatOp, ty: Float, flags: Flags) -> Option<Scalar> {
    let round = Flags { round: flags.round, ..Flags::default() };
    let plain = match op {
        FloatOp::Add | FloatOp::Sub | FloatOp::Mul => Flags { ftz: flags.ftz, sat: flags.sat, ..round },
        FloatOp::Fma => Flags { ftz: flags.ftz, sat: flags.sat, relu: flags.relu, ..round },
        FloatOp::FmaOob => Flags { relu: flags.relu, ..Flags::default() },
        FloatOp::Div => Flags { ftz: flags.ftz, approx: flags.approx, full: flags.full, ..round },
        FloatOp::Sqrt | FloatOp::Rcp => Flags { ftz: flags.ftz, approx: flags.approx, ..round },
        FloatOp::Rsqrt | FloatOp::Ex2 | FloatOp::Lg2 | FloatOp::Sin | FloatOp::Cos | FloatOp::Tanh => {
            Flags { ftz: flags.ftz, approx: true, ..Flags::default() }
        }
        FloatOp::Neg | FloatOp::Abs => Flags { ftz: flags.ftz, ..Flags::default() },
        FloatOp::Min | FloatOp::Max => {
            Flags { ftz: flags.ftz, nan: flags.nan, xorsign: flags.xorsign, ..Flags::default() }
        }
        FloatOp::Copysign => Flags::default(),
    };
    if plain != flags {
        return None;
    }
    match op {
        FloatOp::Add => arithmetic::<Add, L>(ty, flags),
        FloatOp::Sub => arithmetic::<Sub, L>(ty, flags),
        FloatOp::Mul => arithmetic::<Mul, L>(ty, flags),
        FloatOp::Fma => arithmetic::<Fma, L>(ty, flags),
        FloatOp::FmaOob if matches!(ty, Float::F16 | Float::Bf16) => arithmetic::<FmaOob, L>(ty, flags),
        FloatOp::FmaOob => None,
        FloatOp::Div if flags.approx || flags.full => {
            let nearest = flags.round == Round::Nearest && ty == Float::F32;
            match (nearest, flags.approx, flags.full) {
                (true, true, false) => approximate::<ApproxDiv, L>(ty, flags),
                (true, false, true) => approximate::<Div, L>(ty, flags),
                _ => None,
            }
        }
        FloatOp::Sqrt if flags.approx => wide_only(ty, flags, approximate::<Sqrt, L>),
        FloatOp::Rcp if flags.approx && ty == Float::F64 => flags.ftz.then(L::lift::<Reciprocal<false>>),
        FloatOp::Rcp if flags.approx => wide_only(ty, flags, approximate::<Rcp, L>),
        FloatOp::Rsqrt if ty == Float::F64 && flags.ftz => Some(L::lift::<Reciprocal<true>>()),
        FloatOp::Rsqrt if ty == Float::F64 => Some(L::lift::<Flush<F64, Rsqrt, false>>()),
        FloatOp::Rsqrt => wide_only(ty, flags, approximate::<Rsqrt, L>),
        FloatOp::Div => wide::<Div, L>(ty, flags),
        FloatOp::Sqrt => wide::<Sqrt, L>(ty, flags),
        FloatOp::Rcp => wide::<Rcp, L>(ty, flags),
        FloatOp::Neg => sign_or_order::<Neg, L>(ty, flags),
        FloatOp::Abs => sign_or_order::<Abs, L>(ty, flags),
        FloatOp::Min => extremum::<false, L>(ty, flags),
        FloatOp::Max => extremum::<true, L>(ty, flags),
        FloatOp::Copysign => match ty {
            Float::F32 => Some(|a, b, _| (a & 0x8000_0000) | (b & 0x7fff_ffff)),
            Float::F64 => Some(|a, b, _| (a & 1 << 63) | (b & !(1 << 63))),
            Float::F16 | Float::Bf16 | Float::Tf32 | Float::E4m3 | Float::E5m2 => None,
        },
        // `ex2.approx.ftz.bf16` is the only form of bf16, `tanh` has no `.ftz`.
        FloatOp::Ex2 if ty == Float::Bf16 => flags.ftz.then(L::lift::<Flush<Bf16, Ex2, true>>),
        FloatOp::Ex2 => approximate::<Ex2, L>(ty, flags),
        FloatOp::Tanh if flags.ftz => None,
        FloatOp::Tanh => approximate::<Tanh, L>(ty, flags),
        FloatOp::Lg2 => wide_only(ty, flags, approximate::<Lg2, L>),
        FloatOp::Sin => wide_only(ty, flags, approximate::<Sine<false>, L>),
        FloatOp::Cos => wide_only(ty, flags, approximate::<Sine<true>, L>),
    }
}

/// Forms that exist for `f32` alone.
fn wide_only(ty: Float, flags: Flags, of: fn(Float, Flags) -> Option<Scalar>) -> Option<Scalar> {
    if ty == Float::F32 && flags.round == Round::Nearest { of(ty, flags) } else { None }
}

/// `add` `sub` `mul` `fma`.
fn arithmetic<O: Op, L: Lanes>(ty: Float, flags: Flags) -> Option<Scalar> {
    let Flags { round, ftz, sat, relu, .. } = flags;
    match ty {
        Float::F32 | Float::F64 => wide::<O, L>(ty, flags),
        _ if round != Round::Nearest => None,
        Float::F16 => Some(match (ftz, sat, relu) {
            (false, false, false) => L::lift::<Modified<F16, O, Nearest, false, NONE>>(),
            (false, true, false) => L::lift::<Modified<F16, O, Nearest, false, SAT>>(),
            (false, false, true) => L::lift::<Modified<F16, O, Nearest, false, RELU>>(),
            (true, false, false) => L::lift::<Modified<F16, O, Nearest, true, NONE>>(),
            (true, true, false) => L::lift::<Modified<F16, O, Nearest, true, SAT>>(),
            (true, false, true) => L::lift::<Modified<F16, O, Nearest, true, RELU>>(),
            (_, true, true) => return None,
        }),
        Float::Bf16 => match (ftz, sat, relu) {
            (false, false, false) => Some(L::lift::<Modified<Bf16, O, Nearest, false, NONE>>()),
            (false, false, true) => Some(L::lift::<Modified<Bf16, O, Nearest, false, RELU>>()),
            _ => None,
        },
        Float::Tf32 | Float::E4m3 | Float::E5m2 => None,
    }
}

/// The forms of `f32` and `f64`, in all four roundings.
fn wide<O: Op, L: Lanes>(ty: Float, flags: Flags) -> Option<Scalar> {
    match flags.round {
        Round::Nearest => wide_rounded::<O, Nearest, L>(ty, flags),
        Round::Zero => wide_rounded::<O, Zero, L>(ty, flags),
        Round::Down => wide_rounded::<O, Down, L>(ty, flags),
        Round::Up => wide_rounded::<O, Up, L>(ty, flags),
        Round::NearestAway => None,
    }
}

fn wide_rounded<O: Op, R: Mode, L: Lanes>(ty: Float, flags: Flags) -> Option<Scalar> {
    match (ty, flags.ftz, flags.sat, flags.relu) {
        (Float::F32, false, false, false) => Some(L::lift::<Modified<F32, O, R, false, NONE>>()),
        (Float::F32, false, true, false) => Some(L::lift::<Modified<F32, O, R, false, SAT>>()),
        (Float::F32, true, false, false) => Some(L::lift::<Modified<F32, O, R, true, NONE>>()),
        (Float::F32, true, true, false) => Some(L::lift::<Modified<F32, O, R, true, SAT>>()),
        (Float::F64, false, false, false) => Some(L::lift::<Modified<F64, O, R, false, NONE>>()),
        _ => None,
    }
}

/// The approximate functions: `f32`, and `f16` and `bf16` as far as the caller lets them through.
fn approximate<O: Op, L: Lanes>(ty: Float, flags: Flags) -> Option<Scalar> {
    match (ty, flags.ftz) {
        (Float::F32, false) => Some(L::lift::<Flush<F32, O, false>>()),
        (Float::F32, true) => Some(L::lift::<Flush<F32, O, true>>()),
        (Float::F16, false) => Some(L::lift::<Flush<F16, O, false>>()),
        (Float::Bf16, false) => Some(L::lift::<Flush<Bf16, O, false>>()),
        _ => None,
    }
}

/// `neg` `abs` `min` `max`: `.ftz` of `f32` and `f16`.
fn sign_or_order<O: Op, L: Lanes>(ty: Float, flags: Flags) -> Option<Scalar> {
    match (ty, flags.ftz) {
        (Float::F32, false) => Some(L::lift::<Flush<F32, O, false>>()),
        (Float::F32, true) => Some(L::lift::<Flush<F32, O, true>>()),
        (Float::F64, false) => Some(L::lift::<Flush<F64, O, false>>()),
        (Float::F16, false) => Some(L::lift::<Flush<F16, O, false>>()),
        (Float::F16, true) => Some(L::lift::<Flush<F16, O, true>>()),
        (Float::Bf16, false) => Some(L::lift::<Flush<Bf16, O, false>>()),
        _ => None,
    }
}

fn extremum<const MAX: bool, L: Lanes>(ty: Float, flags: Flags) -> Option<Scalar> {
    match (flags.nan, flags.xorsign) {
        (false, false) => sign_or_order::<Extremum<MAX, false, false>, L>(ty, flags),
        _ if ty == Float::F64 => None,
        (false, true) => sign_or_order::<Extremum<MAX, false, true>, L>(ty, flags),
        (true, false) => sign_or_order::<Extremum<MAX, true, false>, L>(ty, flags),
        (true, true) => sign_or_order::<Extremum<MAX, true, true>, L>(ty, flags),
    }
}

const NONE: u8 = 0;
const SAT: u8 = 1;
const RELU: u8 = 2;

/// An operation with its modifiers: flushed operands, a flushed and clamped result.
struct Modified<F, O, R, const FTZ: bool, const CLAMP: u8>(PhantomData<(F, O, R)>);

impl<F: Format, O: Op, R: Mode, const FTZ: bool, const CLAMP: u8> Kernel for Modified<F, O, R, FTZ, CLAMP> {
    #[inline]
    fn eval(a: u64, b: u64, c: u64) -> u64 {
        let result = O::eval::<F, R>(flush::<F, FTZ>(a), flush::<F, FTZ>(b), flush::<F, FTZ>(c));
        let result = flush::<F, FTZ>(result);
        match CLAMP {
            SAT => saturate::<F>(result),
            RELU => relu::<F>(result),
            _ => result,
        }
    }
}

/// The modifiers of an operation that is not rounded in a chosen direction.
type Flush<F, O, const FTZ: bool> = Modified<F, O, Nearest, FTZ, NONE>;

/// To [+0, 1]; NaN to +0.
#[inline(always)]
pub(super) fn saturate<F: Format>(bits: u64) -> u64 {
    if bits & F::LAYOUT.sign() != 0 || F::LAYOUT.is_nan(bits) { 0 } else { bits.min(F::LAYOUT.one()) }
}

/// Negative numbers to +0; NaN to the canonical NaN.
#[inline(always)]
pub(super) fn relu<F: Format>(bits: u64) -> u64 {
    match bits {
        _ if F::LAYOUT.is_nan(bits) => F::LAYOUT.nan,
        _ if bits & F::LAYOUT.sign() != 0 => 0,
        _ => bits,
    }
}

/// The result in place of a NaN: of `f64`, the first of the operands that is NaN, made quiet.
#[inline(always)]
fn nan_of<F: Format>(operands: &[u64]) -> u64 {
    let propagated = operands.iter().find(|x| F::LAYOUT.is_nan(**x));
    match (F::FLOAT, propagated) {
        (Float::F64, Some(nan)) => nan | 1 << 51,
        _ => F::LAYOUT.nan,
    }
}

/// An operation of the host's arithmetic if that rounds likewise, else an exact one that is rounded. The operands are in
/// the order in which their NaN count.
#[inline(always)]
fn rounded<F: Format, R: Mode>(
    operands: &[u64],
    single: impl Fn() -> f32,
    double: impl Fn() -> f64,
    exact: impl Fn() -> Value,
) -> u64 {
    let native = match (F::FLOAT, R::ROUND) {
        (Float::F32, Round::Nearest) => Some(single()).filter(|x| !x.is_nan()).map(|x| x.to_bits().into()),
        (Float::F64, Round::Nearest) => Some(double()).filter(|x| !x.is_nan()).map(f64::to_bits),
        _ => match exact() {
            Value::Nan => None,
            value @ (Value::Infinite { .. } | Value::Finite(_)) => Some(pack(F::LAYOUT, value, R::ROUND, false)),
        },
    };
    native.unwrap_or_else(|| nan_of::<F>(operands))
}

#[inline(always)]
fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[inline(always)]
fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

#[inline(always)]
fn exact<F: Format>(bits: u64) -> Value {
    unpack(F::LAYOUT, bits)
}

struct Add;
impl Op for Add {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, _: u64) -> u64 {
        rounded::<F, R>(
            &[b, a],
            || single(a) + single(b),
            || double(a) + double(b),
            || real::add(exact::<F>(a), exact::<F>(b), R::ROUND),
        )
    }
}

struct Sub;
impl Op for Sub {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, _: u64) -> u64 {
        rounded::<F, R>(
            &[b, a],
            || single(a) - single(b),
            || double(a) - double(b),
            || real::add(exact::<F>(a), real::neg(exact::<F>(b)), R::ROUND),
        )
    }
}

struct Mul;
impl Op for Mul {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, _: u64) -> u64 {
        rounded::<F, R>(
            &[b, a],
            || single(a) * single(b),
            || double(a) * double(b),
            || real::mul(exact::<F>(a), exact::<F>(b)),
        )
    }
}

pub(super) struct Fma;
impl Op for Fma {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, c: u64) -> u64 {
        rounded::<F, R>(
            &[b, c, a],
            || single(a).mul_add(single(b), single(c)),
            || double(a).mul_add(double(b), double(c)),
            || real::add(real::mul(exact::<F>(a), exact::<F>(b)), exact::<F>(c), R::ROUND),
        )
    }
}

/// The bits, but for the sign, of an element out of bounds. The ISA does not say them; an H200 has these for both types.
const OUT_OF_BOUNDS: u64 = 0x7ff7;

struct FmaOob;
impl Op for FmaOob {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, c: u64) -> u64 {
        let outside = |x: u64| x & !F::LAYOUT.sign() == OUT_OF_BOUNDS;
        if outside(a) || outside(b) { 0 } else { Fma::eval::<F, R>(a, b, c) }
    }
}

struct Div;
impl Op for Div {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, _: u64) -> u64 {
        rounded::<F, R>(
            &[a, b],
            || single(a) / single(b),
            || double(a) / double(b),
            || real::div(exact::<F>(a), exact::<F>(b)),
        )
    }
}

/// `div.approx.f32`: a divisor from 2^126 gives a zero, and of an infinite dividend NaN (PTX ISA 9.7.3.8).
struct ApproxDiv;
impl Op for ApproxDiv {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, c: u64) -> u64 {
        let huge = single(b).abs() >= f32::from_bits(0x7e80_0000) && single(b).is_finite();
        if !huge || single(a).is_nan() {
            Div::eval::<F, R>(a, b, c)
        } else if single(a).is_infinite() {
            F::LAYOUT.nan
        } else {
            (a ^ b) & F::LAYOUT.sign()
        }
    }
}

struct Rcp;
impl Op for Rcp {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        rounded::<F, R>(
            &[a],
            || 1.0 / single(a),
            || 1.0 / double(a),
            || real::div(exact::<F>(F::LAYOUT.one()), exact::<F>(a)),
        )
    }
}

struct Sqrt;
impl Op for Sqrt {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        rounded::<F, R>(&[a], || single(a).sqrt(), || double(a).sqrt(), || real::sqrt(exact::<F>(a)))
    }
}

struct Rsqrt;
impl Op for Rsqrt {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        let single = || (1.0 / f64::from(single(a)).sqrt()) as f32;
        rounded::<F, R>(&[a], single, || 1.0 / double(a).sqrt(), || Value::Nan)
    }
}

struct Neg;
impl Op for Neg {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        if F::LAYOUT.is_nan(a) { nan_of::<F>(&[a]) } else { a ^ F::LAYOUT.sign() }
    }
}

struct Abs;
impl Op for Abs {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        if F::LAYOUT.is_nan(a) { nan_of::<F>(&[a]) } else { a & !F::LAYOUT.sign() }
    }
}

/// `min` and `max`: -0 is less than +0, a NaN operand is ignored unless `.NaN` is given; `.xorsign.abs` compares
/// magnitudes and gives the product's sign.
struct Extremum<const MAX: bool, const NAN: bool, const XORSIGN: bool>;
impl<const MAX: bool, const NAN: bool, const XORSIGN: bool> Op for Extremum<MAX, NAN, XORSIGN> {
    #[inline(always)]
    fn eval<F: Format, R: Mode>(a: u64, b: u64, _: u64) -> u64 {
        let sign = if XORSIGN { (a ^ b) & F::LAYOUT.sign() } else { 0 };
        let keep = if XORSIGN { !F::LAYOUT.sign() } else { u64::MAX };
        let (a, b) = (a & keep, b & keep);
        let order = |x: u64| if x & F::LAYOUT.sign() != 0 { -((x & !F::LAYOUT.sign()) as i64) - 1 } else { x as i64 };
        let result = match (F::LAYOUT.is_nan(a), F::LAYOUT.is_nan(b)) {
            (true, true) => return nan_of::<F>(&[b, a]),
            (true, false) | (false, true) if NAN => return F::LAYOUT.nan,
            (true, false) => b,
            (false, true) => a,
            (false, false) => {
                if (order(a) < order(b)) == MAX {
                    b
                } else {
                    a
                }
            }
        };
        result | sign
    }
}
