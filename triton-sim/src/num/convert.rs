//! `cvt` of one number (PTX ISA 9.7.9.21).

use super::float::{relu, saturate};
use super::format::{Bf16, Down, F16, F32, F64, Format, Mode, Nearest, Tf32, Up, Zero, flush, from_f64, to_f64};
use super::integer::Integer;
use super::real::{Exact, Value, pack, unpack};
use super::{Flags, Float, Int, Num, Round, Scalar};

/// The function of a conversion; `None` where PTX has no such form. A result narrower than its register is still to be
/// extended by the caller.
pub fn convert(to: Num, from: Num, flags: Flags) -> Option<Scalar> {
    let Flags { round, integral, ftz, sat, satfinite, relu, .. } = flags;
    if (Flags { round, integral, ftz, sat, satfinite, relu, ..Flags::default() }) != flags {
        return None;
    }
    let between_singles = to == Num::Float(Float::F32) || from == Num::Float(Float::F32);
    if ftz && !between_singles {
        return None;
    }
    match (to, from) {
        (Num::Int(to), _) => match to {
            Int::U8 => to_integer::<u8>(from, flags),
            Int::S8 => to_integer::<i8>(from, flags),
            Int::U16 => to_integer::<u16>(from, flags),
            Int::S16 => to_integer::<i16>(from, flags),
            Int::U32 => to_integer::<u32>(from, flags),
            Int::S32 => to_integer::<i32>(from, flags),
            Int::U64 => to_integer::<u64>(from, flags),
            Int::S64 => to_integer::<i64>(from, flags),
        },
        (Num::Float(to), Num::Int(from)) => match from {
            Int::U8 => from_integer::<u8>(to, flags),
            Int::S8 => from_integer::<i8>(to, flags),
            Int::U16 => from_integer::<u16>(to, flags),
            Int::S16 => from_integer::<i16>(to, flags),
            Int::U32 => from_integer::<u32>(to, flags),
            Int::S32 => from_integer::<i32>(to, flags),
            Int::U64 => from_integer::<u64>(to, flags),
            Int::S64 => from_integer::<i64>(to, flags),
        },
        (Num::Float(to), Num::Float(from)) if relu || satfinite => special(to, from, flags),
        (Num::Float(Float::Tf32), Num::Float(from)) => special(Float::Tf32, from, flags),
        (Num::Float(to), Num::Float(from)) => match from {
            Float::F16 => from_float::<F16>(to, flags),
            Float::Bf16 => from_float::<Bf16>(to, flags),
            Float::F32 => from_float::<F32>(to, flags),
            Float::F64 => from_float::<F64>(to, flags),
            Float::Tf32 | Float::E4m3 | Float::E5m2 => None,
        },
    }
}

/// A function with the rounding of the flags as its last type argument.
macro_rules! with_round {
    ($round:expr, $function:ident :: <$($argument:tt),*>) => {
        match $round {
            Round::Nearest => Some($function::<$($argument,)* Nearest>),
            Round::Zero => Some($function::<$($argument,)* Zero>),
            Round::Down => Some($function::<$($argument,)* Down>),
            Round::Up => Some($function::<$($argument,)* Up>),
            Round::NearestAway => None,
        }
    };
}

fn to_integer<T: Integer>(from: Num, flags: Flags) -> Option<Scalar> {
    let modifiers =
        Flags { round: flags.round, integral: flags.integral, ftz: flags.ftz, sat: flags.sat, ..Flags::default() };
    if modifiers != flags {
        return None;
    }
    match from {
        Num::Int(_) if flags.integral || flags.round != Round::Nearest => None,
        Num::Int(from) => Some(match from {
            Int::U8 => between_integers::<u8, T>(flags.sat),
            Int::S8 => between_integers::<i8, T>(flags.sat),
            Int::U16 => between_integers::<u16, T>(flags.sat),
            Int::S16 => between_integers::<i16, T>(flags.sat),
            Int::U32 => between_integers::<u32, T>(flags.sat),
            Int::S32 => between_integers::<i32, T>(flags.sat),
            Int::U64 => between_integers::<u64, T>(flags.sat),
            Int::S64 => between_integers::<i64, T>(flags.sat),
        }),
        Num::Float(_) if !flags.integral => None,
        Num::Float(from) => match from {
            Float::F16 => with_round!(flags.round, float_to_integer::<F16, T, false>),
            Float::Bf16 => with_round!(flags.round, float_to_integer::<Bf16, T, false>),
            Float::F32 if flags.ftz => with_round!(flags.round, float_to_integer::<F32, T, true>),
            Float::F32 => with_round!(flags.round, float_to_integer::<F32, T, false>),
            Float::F64 => with_round!(flags.round, float_to_integer::<F64, T, false>),
            Float::Tf32 | Float::E4m3 | Float::E5m2 => None,
        },
    }
}

/// Extends or truncates; with `.sat`, clamps.
fn between_integers<S: Integer, T: Integer>(sat: bool) -> Scalar {
    if sat { |a, _, _| T::saturate(S::of(a).wide()).bits() } else { |a, _, _| T::wrap(S::of(a).wide()).bits() }
}

/// Clamped to the range of the integer. NaN is 0, but if either side has 64 bits its upper bit alone is set.
fn float_to_integer<S: Format, T: Integer, const FTZ: bool, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
    let x = to_f64(S::FLOAT, flush::<S, FTZ>(a));
    if x.is_nan() && (S::LAYOUT.bits == 64 || T::BITS == 64) {
        return 1 << (T::BITS - 1);
    }
    T::clamp_f64(to_integral(x, R::ROUND)).bits()
}

/// The integer that a number is rounded to.
#[inline(always)]
fn to_integral(x: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => x.round_ties_even(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
        Round::NearestAway => x.round(),
    }
}

fn from_integer<S: Integer>(to: Float, flags: Flags) -> Option<Scalar> {
    if flags.integral || flags.relu || flags.satfinite {
        return None;
    }
    match (to, flags.sat) {
        (Float::F16, false) => with_round!(flags.round, integer_to_float::<S, F16, false>),
        (Float::F16, true) => with_round!(flags.round, integer_to_float::<S, F16, true>),
        (Float::Bf16, false) => with_round!(flags.round, integer_to_float::<S, Bf16, false>),
        (Float::F32, false) => with_round!(flags.round, integer_to_float::<S, F32, false>),
        (Float::F32, true) => with_round!(flags.round, integer_to_float::<S, F32, true>),
        (Float::F64, false) => with_round!(flags.round, integer_to_float::<S, F64, false>),
        (Float::F64, true) => with_round!(flags.round, integer_to_float::<S, F64, true>),
        (Float::Bf16 | Float::Tf32 | Float::E4m3 | Float::E5m2, _) => None,
    }
}

fn integer_to_float<S: Integer, T: Format, const SAT: bool, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
    let x = S::of(a);
    let result = match (T::FLOAT, R::ROUND) {
        (Float::F32, Round::Nearest) => x.to_f32().to_bits().into(),
        (Float::F64, Round::Nearest) => x.to_f64().to_bits(),
        _ => {
            let negative = x.wide() < 0;
            let exact = Exact { negative, significand: x.wide().unsigned_abs(), exponent: 0 };
            pack(T::LAYOUT, Value::Finite(exact), R::ROUND, false)
        }
    };
    if SAT { saturate::<T>(result) } else { result }
}

fn from_float<S: Format>(to: Float, flags: Flags) -> Option<Scalar> {
    match to {
        Float::F16 => between_floats::<S, F16>(flags),
        Float::Bf16 if flags.sat => None,
        Float::Bf16 => between_floats::<S, Bf16>(flags),
        Float::F32 => between_floats::<S, F32>(flags),
        Float::F64 => between_floats::<S, F64>(flags),
        Float::Tf32 | Float::E4m3 | Float::E5m2 => None,
    }
}

fn between_floats<S: Format, T: Format>(flags: Flags) -> Option<Scalar> {
    let Flags { round, integral, ftz, sat, .. } = flags;
    if S::FLOAT == T::FLOAT && integral {
        return match (ftz, sat) {
            (false, false) => with_round!(round, round_to_integral::<T, false, false>),
            (false, true) => with_round!(round, round_to_integral::<T, false, true>),
            (true, false) => with_round!(round, round_to_integral::<T, true, false>),
            (true, true) => with_round!(round, round_to_integral::<T, true, true>),
        };
    }
    let narrower = T::LAYOUT.fraction < S::LAYOUT.fraction || T::LAYOUT.min_exponent > S::LAYOUT.min_exponent;
    // The one widening with which a rounding may be written.
    let rounds = narrower || S::FLOAT == Float::Bf16;
    if integral || (!rounds && round != Round::Nearest) {
        return None;
    }
    if S::FLOAT == T::FLOAT && S::LAYOUT.bits >= 32 && !ftz && !sat {
        return Some(|a, _, _| a);
    }
    // Measured on an H200; the ISA says that it flushes.
    let ftz = ftz && !(T::FLOAT == Float::F16 && matches!(round, Round::Down | Round::Up));
    match (ftz, sat) {
        (false, false) => with_round!(round, float_to_float::<S, T, false, false>),
        (false, true) => with_round!(round, float_to_float::<S, T, false, true>),
        (true, false) => with_round!(round, float_to_float::<S, T, true, false>),
        (true, true) => with_round!(round, float_to_float::<S, T, true, true>),
    }
}

/// `.ftz` is about `f32` only, on either side.
#[inline(always)]
fn flush_single<F: Format, const FTZ: bool>(bits: u64) -> u64 {
    if F::LAYOUT.bits == 32 { flush::<F, FTZ>(bits) } else { bits }
}

fn float_to_float<S: Format, T: Format, const FTZ: bool, const SAT: bool, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
    let a = flush_single::<S, FTZ>(a);
    let result = match (S::LAYOUT.bits, R::ROUND) {
        _ if S::LAYOUT.is_nan(a) => nan::<S, T, FTZ>(a),
        (..64, Round::Nearest) => from_f64(T::FLOAT, to_f64(S::FLOAT, a), Round::Nearest),
        _ => pack(T::LAYOUT, unpack(S::LAYOUT, a), R::ROUND, false),
    };
    let result = flush_single::<T, FTZ>(result);
    if SAT { saturate::<T>(result) } else { result }
}

/// What a NaN becomes, as on Hopper: made quiet and cut to size if either side is `f64`, of `bf16` to `f32` the same bits,
/// else the canonical NaN. With `.ftz`, one of `f32` is made canonical first.
#[inline(always)]
fn nan<S: Format, T: Format, const FTZ: bool>(a: u64) -> u64 {
    let (from, to) = (S::LAYOUT, T::LAYOUT);
    let a = if FTZ && from.bits == 32 { from.nan } else { a };
    match (S::FLOAT, T::FLOAT) {
        (Float::F64, _) | (_, Float::F64) => {
            let sign = if a & from.sign() != 0 { to.sign() } else { 0 };
            let payload = a << (64 - from.fraction) >> (64 - to.fraction);
            sign | to.infinity | 1 << (to.fraction - 1) | payload
        }
        (Float::Bf16, Float::F32) if !FTZ => a << 16,
        _ => to.nan,
    }
}

fn round_to_integral<T: Format, const FTZ: bool, const SAT: bool, R: Mode>(a: u64, _: u64, _: u64) -> u64 {
    let x = to_integral(to_f64(T::FLOAT, flush::<T, FTZ>(a)), R::ROUND);
    let result = if x.is_nan() { nan::<T, T, FTZ>(a) } else { from_f64(T::FLOAT, x, Round::Nearest) };
    if SAT { saturate::<T>(result) } else { result }
}

/// The conversions from `f32` that know `.relu` and `.satfinite`.
fn special(to: Float, from: Float, flags: Flags) -> Option<Scalar> {
    if from != Float::F32 || flags.integral || flags.ftz || flags.sat {
        return None;
    }
    match (to, flags.round) {
        (Float::F16, Round::Nearest) => Some(clamped::<F16, Nearest>(flags)),
        (Float::F16, Round::Zero) => Some(clamped::<F16, Zero>(flags)),
        (Float::Bf16, Round::Nearest) => Some(clamped::<Bf16, Nearest>(flags)),
        (Float::Bf16, Round::Zero) => Some(clamped::<Bf16, Zero>(flags)),
        (Float::Tf32, Round::Nearest) => Some(clamped::<Tf32, Nearest>(flags)),
        (Float::Tf32, Round::Zero) => Some(clamped::<Tf32, Zero>(flags)),
        (Float::Tf32, Round::NearestAway) if flags.satfinite => Some(|a, _, _| away(a, true)),
        (Float::Tf32, Round::NearestAway) if !flags.relu => Some(|a, _, _| away(a, false)),
        _ => None,
    }
}

fn clamped<T: Format, R: Mode>(flags: Flags) -> Scalar {
    match (flags.satfinite, flags.relu) {
        (false, false) => |a, _, _| from_single::<T, R>(a, false),
        (false, true) => |a, _, _| relu::<T>(from_single::<T, R>(a, false)),
        (true, false) => |a, _, _| from_single::<T, R>(a, true),
        (true, true) => |a, _, _| relu::<T>(from_single::<T, R>(a, true)),
    }
}

/// `cvt.rna.tf32.f32`: half a unit in the last place is added to the magnitude of a number, and the low bits are
/// truncated: those of a NaN too, which may become infinite. With `finite`, what would have the exponent of infinities
/// is the number before (measured on an H200; the ISA says that a NaN becomes a NaN).
fn away(a: u64, finite: bool) -> u64 {
    const TOP: u32 = 0x7f80_0000;
    let a = a as u32;
    let half = if a & TOP == TOP { 0 } else { 0x1000 };
    let rounded = (a + half) & !0x1fff;
    let below = if finite && rounded & TOP == TOP { 0x2000 } else { 0 };
    u64::from(rounded - below)
}

/// The number of a format nearest to an `f32`; with `finite`, not an infinity.
#[inline(always)]
pub(super) fn from_single<T: Format, R: Mode>(a: u64, finite: bool) -> u64 {
    pack(T::LAYOUT, unpack(F32::LAYOUT, a), R::ROUND, finite)
}
