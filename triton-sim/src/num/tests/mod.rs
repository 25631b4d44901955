//! Checks of the arithmetic against independent calculations and known answers.

mod conversions;
mod dots;
mod floats;
mod integers;
mod known;
mod measured;

use super::{Float, Round, to_f64};

/// Bit patterns of a type: zeros, ones, limits, numbers near 1, and any.
fn sample(random: &mut fastrand::Rng, ty: Float) -> u64 {
    let layout = ty.layout();
    let unit = 1 << layout.spare;
    let magnitude = match random.u32(0..8) {
        0 => {
            let special = [0, unit, layout.min_normal(), layout.one(), layout.max, layout.infinity, layout.nan];
            let near = random.u64(0..3).wrapping_sub(1).wrapping_mul(unit);
            special[random.usize(0..special.len())].wrapping_add(near)
        }
        1..5 => {
            let field = random.u64(0..2 * u64::from(layout.fraction) + 6) << (layout.fraction + layout.spare);
            let fraction = random.u64(0..layout.min_normal());
            (layout.one() + fraction + field).wrapping_sub((u64::from(layout.fraction) + 3) * layout.min_normal())
        }
        _ => random.u64(..),
    };
    (magnitude & (layout.sign() - 1)) | if random.bool() { layout.sign() } else { 0 }
}

/// An `f64` result and its error become the result rounded to odd: a second rounding to fewer bits is then exact.
fn to_odd(rounded: f64, error: f64) -> f64 {
    let bits = rounded.to_bits();
    if error == 0.0 || error.is_nan() || !rounded.is_finite() || bits & 1 == 1 {
        rounded
    } else if (error > 0.0) == (rounded > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    }
}

/// The error of an `f64` sum (Knuth's two-sum).
fn sum_error(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}

/// Whether `bits` is `x`, rounded: by the distance to the neighbours, not by a calculation of the rounding.
fn is_rounded(ty: Float, round: Round, x: f64, bits: u64) -> bool {
    let layout = ty.layout();
    if x.is_nan() {
        return bits == layout.nan;
    }
    let magnitude = bits & (layout.sign() - 1);
    if (bits & layout.sign() != 0) != x.is_sign_negative() || magnitude > layout.infinity {
        return false;
    }
    // The infinity stands for the number that would follow the largest.
    let step = 1 << layout.spare;
    let value = |magnitude: u64| {
        if magnitude >= layout.infinity && x.is_finite() {
            2.0 * to_f64(ty, layout.max) - to_f64(ty, layout.max - step)
        } else {
            to_f64(ty, magnitude)
        }
    };
    let (x, v) = (x.abs(), value(magnitude));
    if v == x {
        return true;
    }
    let away = match round {
        Round::Nearest | Round::NearestAway => {
            let even = round == Round::Nearest && magnitude >> layout.spare & 1 == 0;
            let above = (v + value(magnitude + step)) / 2.0;
            let below = if magnitude == 0 { 0.0 } else { (v + value(magnitude - step)) / 2.0 };
            let upper = x < above || (x == above && even) || magnitude == layout.infinity;
            let lower = x > below || (x == below && (even || round == Round::NearestAway));
            return upper && lower;
        }
        Round::Zero => false,
        Round::Down => bits & layout.sign() != 0,
        Round::Up => bits & layout.sign() == 0,
    };
    if away {
        let beyond = v > x || magnitude == layout.infinity;
        beyond && value(magnitude - step) < x
    } else {
        v < x && (value(magnitude + step) > x || magnitude == layout.max)
    }
}
