//! The functions that PTX calls approximate: computed in double precision and rounded to nearest, which lies within the
//! error bounds of the ISA but is not what a chip gives in the last bits.

use super::format::{Format, Kernel, Mode, Op, flush};
use super::{Float, Round, format, from_f64, to_f64};

#[inline(always)]
fn through_f64<F: Format, R: Mode>(a: u64, f: impl Fn(f64) -> f64) -> u64 {
    from_f64(F::FLOAT, f(to_f64(F::FLOAT, a)), R::ROUND)
}

/// 2^a.
pub(super) struct Ex2;
impl Op for Ex2 {
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        through_f64::<F, R>(a, f64::exp2)
    }
}

/// The logarithm to base 2: -∞ of zeros, NaN of negative numbers.
pub(super) struct Lg2;
impl Op for Lg2 {
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        through_f64::<F, R>(a, f64::log2)
    }
}

/// The sine, or the cosine: of the number of turns, rounded to `f32` toward zero as on the chips. So both are right near
/// zero alone, and far from it as wrong as there.
pub(super) struct Sine<const COSINE: bool>;
impl<const COSINE: bool> Op for Sine<COSINE> {
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        const TURNS: f32 = std::f32::consts::FRAC_1_PI / 2.0;
        let turns = to_f64(Float::F32, from_f64(Float::F32, to_f64(F::FLOAT, a) * f64::from(TURNS), Round::Zero));
        let angle = turns % 1.0 * std::f64::consts::TAU;
        from_f64(F::FLOAT, if COSINE { angle.cos() } else { angle.sin() }, R::ROUND)
    }
}

/// The hyperbolic tangent.
pub(super) struct Tanh;
impl Op for Tanh {
    fn eval<F: Format, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
        through_f64::<F, R>(a, f64::tanh)
    }
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: they read the upper half of the operand, and the lower half of the
/// result is zero (PTX ISA 9.7.3.14 and 9.7.3.17).
pub(super) struct Reciprocal<const ROOT: bool>;
impl<const ROOT: bool> Kernel for Reciprocal<ROOT> {
    fn eval(a: u64, _: u64, _: u64) -> u64 {
        let x = f64::from_bits(flush::<format::F64, true>(a & !0xffff_ffff));
        let y = if ROOT { 1.0 / x.sqrt() } else { 1.0 / x };
        let bits = if y.is_nan() { 0x7fff_ffff_0000_0000 } else { y.to_bits() };
        flush::<format::F64, true>(bits & !0xffff_ffff)
    }
}
