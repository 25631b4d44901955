//! What elementwise operations yield: integers by integers of 128 bits, floats by [`crate::float`], functions by `f64`.
//!
//! A reference takes the element type and the bits of up to three elements. The functions here make references.

use crate::float::{Float, power};
use crate::value::{Expected, float, from_f64, integer, is_nan, mask, range, round, to_f64, wrap};
use std::cmp::Ordering;
use triton_core::sema::BUILTINS;
use triton_core::types::{Class, DType};

/// A function of up to three elements of one type.
pub trait Reference: Fn(DType, [u64; 3]) -> Expected + Copy + Send + Sync + 'static {}

impl<F: Fn(DType, [u64; 3]) -> Expected + Copy + Send + Sync + 'static> Reference for F {}

/// A function of integers, wrapped to their type.
pub fn integers(f: fn(i128, i128) -> i128) -> impl Reference {
    move |dtype, [a, b, _]| Expected::Bits(wrap(dtype, f(integer(dtype, a), integer(dtype, b))))
}

/// A function of an integer and an amount that is read without a sign, wrapped.
pub fn shifts(f: fn(i128, u32) -> i128) -> impl Reference {
    // Shifting by 127 bits leaves of a number of 64 bits what shifting by more does.
    move |dtype, [a, amount, _]| Expected::Bits(wrap(dtype, f(integer(dtype, a), amount.min(127) as u32)))
}

/// The upper half of a product, by two products with the halves of one factor: 128 bits hold each, but not that of 64 bits by 64.
pub fn upper_half() -> impl Reference {
    move |dtype, [a, b, _]| {
        let (a, b, half) = (integer(dtype, a), integer(dtype, b), dtype.bits() / 2);
        let (high, low) = (b >> half, b & ((1 << half) - 1));
        Expected::Bits(wrap(dtype, (a * high + ((a * low) >> half)) >> half))
    }
}

/// A function of bits.
pub fn bits(f: fn(u64, u64) -> u64) -> impl Reference {
    move |dtype, [a, b, _]| Expected::Bits(f(a, b) & mask(dtype))
}

/// A function of floats, rounded once.
pub fn floats(f: fn([Float; 3]) -> Float) -> impl Reference {
    move |dtype, x| Expected::Bits(round(dtype, f(x.map(|bits| float(dtype, bits)))))
}

/// Whether two elements of any type are in an order.
pub fn ordered(f: fn(Option<Ordering>) -> bool) -> impl Reference {
    move |dtype, [a, b, _]| Expected::Bits(f(order(dtype, a, b)).into())
}

/// The order of two elements; `None` with NaN. Zeros are equal.
pub fn order(dtype: DType, a: u64, b: u64) -> Option<Ordering> {
    match dtype.class() {
        Class::Float => float(dtype, a).compare(float(dtype, b)),
        Class::Bool | Class::Signed | Class::Unsigned => Some(integer(dtype, a).cmp(&integer(dtype, b))),
    }
}

/// The order in which a number comes before NaN, and −0 before +0.
pub fn total_order(dtype: DType, a: u64, b: u64) -> Ordering {
    let sign = |bits| !float(dtype, bits).negative();
    order(dtype, a, b).map_or_else(
        || is_nan(dtype, a).cmp(&is_nan(dtype, b)),
        |order| if dtype.is_float() { order.then(sign(a).cmp(&sign(b))) } else { order },
    )
}

/// The smaller of two elements: of a number and NaN the number.
pub fn lesser(dtype: DType, a: u64, b: u64) -> u64 {
    if total_order(dtype, b, a).is_lt() { b } else { a }
}

/// The greater of two elements: of a number and NaN the number.
pub fn greater(dtype: DType, a: u64, b: u64) -> u64 {
    if is_nan(dtype, a) || !is_nan(dtype, b) && total_order(dtype, b, a).is_gt() { b } else { a }
}

/// A function that yields one of its first two elements.
pub fn one_of(f: fn(DType, u64, u64) -> u64) -> impl Reference {
    move |dtype, [a, b, _]| Expected::Bits(f(dtype, a, b))
}

/// A function that yields one of its three elements.
pub fn one_of_three(f: fn(DType, [u64; 3]) -> u64) -> impl Reference {
    move |dtype, elements| Expected::Bits(f(dtype, elements))
}

/// The first of two elements where a condition holds, else the second.
pub fn chosen(condition: bool, a: u64, b: u64) -> Expected {
    Expected::Bits(if condition { a } else { b })
}

/// A function of a float whose exact result is a number of its type, too.
pub fn exactly(f: fn(f64) -> f64) -> impl Reference {
    move |dtype, [x, _, _]| Expected::Bits(from_f64(dtype, f(to_f64(dtype, x))))
}

/// The sum of two numbers as the one next to it and the rest, if the second is the smaller.
fn renormalised(high: f64, low: f64) -> [f64; 2] {
    let sum = high + low;
    [sum, low - (sum - high)]
}

/// The product of two such sums.
fn product([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    let high = a * c;
    renormalised(high, a.mul_add(c, -high) + a * d + b * c)
}

/// The quotient of such a sum and a number.
fn quotient([a, b]: [f64; 2], by: f64) -> [f64; 2] {
    let high = a / by;
    renormalised(high, ((-high).mul_add(by, a) + b) / by)
}

/// The sum of two such sums.
fn sum([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    let high = a + c;
    let of_c = high - a;
    renormalised(high, (a - (high - of_c)) + (c - of_c) + b + d)
}

/// The error function by its series, of some 100 bits since terms cancel, and far out by the continued fraction of its complement
/// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.5 and 7.1.14).
pub fn erf(x: f64) -> f64 {
    const TWO_OVER_SQRT_PI: [f64; 2] = [std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17];
    let a = x.abs();
    let value = if a < 3.0 {
        let square = product([-a, 0.0], [a, 0.0]);
        let (mut term, mut whole, mut n) = ([a, 0.0], [a, 0.0], 0.0);
        while term[0].abs() > a * 1e-30 {
            n += 1.0;
            term = quotient(product(term, square), n);
            whole = sum(whole, quotient(term, 2.0 * n + 1.0));
        }
        product(whole, TWO_OVER_SQRT_PI)[0]
    } else if a < 6.0 {
        let fraction = (1..80).rev().fold(a, |rest, k| a + f64::from(k) / 2.0 / rest);
        1.0 - (-a * a).exp() / fraction / std::f64::consts::PI.sqrt()
    } else if a.is_nan() {
        return a;
    } else {
        1.0
    };
    value.copysign(x)
}

/// A function of a float that is as near as the language's table says of the function of this name: within that many
/// units in the last place of `f32`. The half types get the result in `f32` rounded
/// once more: half a unit of their own, and those of `f32`, 2¹³ or 2¹⁶ times smaller. (A result that the error takes over a power
/// of two is rounded in larger units, but to that power, which is nearer.) For `f64` they are its own units, and one for what
/// the reference is off.
pub fn near(name: &'static str, f: fn(f64) -> f64) -> impl Reference {
    let builtin = BUILTINS.iter().find(|builtin| builtin.name == name);
    // One that the table does not know has to be exact, and fails.
    let ulps = builtin.and_then(|builtin| builtin.ulps()).map_or(0.0, f64::from);
    move |dtype, [x, _, _]| {
        let bound = match dtype {
            DType::F16 => 0.5 + ulps * power(-13),
            DType::BF16 => 0.5 + ulps * power(-16),
            DType::F64 => ulps + 1.0,
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::F32 => ulps,
        };
        Expected::within(dtype, f(to_f64(dtype, x)), bound)
    }
}

/// An element in another type.
pub fn cast(from: DType, to: DType, bits: u64) -> u64 {
    match (from.class(), to.class()) {
        (Class::Float, Class::Float) => round(to, float(from, bits)),
        (Class::Float, _) => {
            let (least, most) = range(to);
            float(from, bits).truncate().map_or(0, |n| wrap(to, n.clamp(least, most)))
        }
        (_, Class::Float) => round(to, Float::integer(integer(from, bits))),
        (_, _) => wrap(to, integer(from, bits)),
    }
}
