//! Conversions of which the result is a packed pair: `cvt` to and from `f16x2`, `bf16x2`, `e4m3x2`, `e5m2x2`, and
//! `cvt.pack` (PTX ISA 9.7.9.21 and 9.7.9.22).

use super::convert::from_single;
use super::float::relu;
use super::format::{Bf16, E4m3, E5m2, F16, Format, Mode, Nearest, Zero};
use super::integer::Integer;
use super::real::{pack, unpack};
use super::{Flags, Float, Round, Scalar};

/// The conversion of two `f32`, the first to the upper half; `None` where PTX has no such form. Conversions to 8 bits
/// are always `.satfinite`.
pub fn convert_pair(to: Float, flags: Flags) -> Option<Scalar> {
    let Flags { round, satfinite, relu, .. } = flags;
    if (Flags { round, satfinite, relu, ..Flags::default() }) != flags {
        return None;
    }
    match (to, round) {
        (Float::F16, Round::Nearest) => Some(pair::<F16, Nearest>(flags)),
        (Float::F16, Round::Zero) => Some(pair::<F16, Zero>(flags)),
        (Float::Bf16, Round::Nearest) => Some(pair::<Bf16, Nearest>(flags)),
        (Float::Bf16, Round::Zero) => Some(pair::<Bf16, Zero>(flags)),
        (Float::E4m3, Round::Nearest) if satfinite => Some(pair::<E4m3, Nearest>(flags)),
        (Float::E5m2, Round::Nearest) if satfinite => Some(pair::<E5m2, Nearest>(flags)),
        _ => None,
    }
}

fn pair<T: Format, R: Mode>(flags: Flags) -> Scalar {
    match (flags.satfinite, flags.relu) {
        (false, false) => |a, b, _| both::<T>(a, b, |x| from_single::<T, R>(x, false)),
        (false, true) => |a, b, _| both::<T>(a, b, |x| relu::<T>(from_single::<T, R>(x, false))),
        (true, false) => |a, b, _| both::<T>(a, b, |x| from_single::<T, R>(x, true)),
        (true, true) => |a, b, _| both::<T>(a, b, |x| relu::<T>(from_single::<T, R>(x, true))),
    }
}

/// A function of both numbers, as a pair of a format.
#[inline(always)]
fn both<T: Format>(high: u64, low: u64, f: impl Fn(u64) -> u64) -> u64 {
    f(high) << T::LAYOUT.bits | f(low)
}

/// The conversion of a pair to a pair: `f16x2` to 8-bit formats, always `.satfinite`, and back.
pub fn convert_packed(to: Float, from: Float, flags: Flags) -> Option<Scalar> {
    let Flags { satfinite, relu, .. } = flags;
    if (Flags { satfinite, relu, ..Flags::default() }) != flags {
        return None;
    }
    match (to, from) {
        (Float::E4m3, Float::F16) if satfinite => Some(packed::<E4m3, F16>(relu)),
        (Float::E5m2, Float::F16) if satfinite => Some(packed::<E5m2, F16>(relu)),
        (Float::F16, Float::E4m3) if !satfinite => Some(packed::<F16, E4m3>(relu)),
        (Float::F16, Float::E5m2) if !satfinite => Some(packed::<F16, E5m2>(relu)),
        _ => None,
    }
}

fn packed<T: Format, S: Format>(clamp: bool) -> Scalar {
    /// Numbers of 8 bits do not become infinite, those of 16 bits do not overflow.
    #[inline(always)]
    fn one<T: Format, S: Format>(bits: u64) -> u64 {
        let source = bits & (2 * S::LAYOUT.sign() - 1);
        pack(T::LAYOUT, unpack(S::LAYOUT, source), Round::Nearest, T::LAYOUT.bits == 8)
    }
    if clamp {
        |a, _, _| both::<T>(a >> S::LAYOUT.bits, a, |x| relu::<T>(one::<T, S>(x)))
    } else {
        |a, _, _| both::<T>(a >> S::LAYOUT.bits, a, one::<T, S>)
    }
}

/// `cvt.pack.sat` of two `s32`, clamped to `bits` bits, the first above the second; below 16 bits, the third operand is
/// shifted left to make room for them. `None` for a width that is not 2, 4, 8 or 16.
pub fn cvt_pack(bits: u32, signed: bool) -> Option<Scalar> {
    Some(match (bits, signed) {
        (16, false) => clamped::<16, false>,
        (16, true) => clamped::<16, true>,
        (8, false) => clamped::<8, false>,
        (8, true) => clamped::<8, true>,
        (4, false) => clamped::<4, false>,
        (4, true) => clamped::<4, true>,
        (2, false) => clamped::<2, false>,
        (2, true) => clamped::<2, true>,
        _ => return None,
    })
}

fn clamped<const BITS: u32, const SIGNED: bool>(a: u64, b: u64, c: u64) -> u64 {
    let (least, most) = if SIGNED { (-1 << (BITS - 1), (1 << (BITS - 1)) - 1) } else { (0, (1 << BITS) - 1) };
    let one = |x: u64| i32::of(x).wide().clamp(least, most) as u64 & ((1 << BITS) - 1);
    let above = if BITS == 16 { 0 } else { c << (2 * BITS) };
    (above | one(a) << BITS | one(b)) & 0xffff_ffff
}
