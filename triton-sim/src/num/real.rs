//! Exact real numbers between the unpacking of operands and the one rounding of a result.
//!
//! This is the path of everything that the host's own arithmetic does not do: the small formats and the directed
//! roundings.

use super::Round;

/// The bit fields of a floating-point format and its special values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The bits of the format.
    pub bits: u32,
    /// The bits of the fraction, the leading one not counted.
    pub fraction: u32,
    /// The exponent of the smallest normal number.
    pub min_exponent: i32,
    /// The largest finite number.
    pub max: u64,
    /// The positive infinity; of a format without one, its NaN.
    pub infinity: u64,
    /// The NaN that operations give.
    pub nan: u64,
    /// Bits below the fraction that mean nothing.
    pub spare: u32,
}

impl Layout {
    /// The bit of the sign.
    pub const fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// The smallest positive normal number.
    pub const fn min_normal(self) -> u64 {
        1 << (self.fraction + self.spare)
    }

    /// The number 1.
    pub const fn one(self) -> u64 {
        ((1 - self.min_exponent) as u64) << (self.fraction + self.spare)
    }

    /// Whether the bits are a NaN.
    pub const fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        magnitude > self.infinity || (self.infinity == self.nan && magnitude == self.nan)
    }

    /// Whether the bits are a subnormal number, not zero.
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        magnitude != 0 && magnitude < self.min_normal()
    }
}

/// A real number ± `significand` × 2^`exponent`. The lowest bit may stand for all that is below it ("jammed"), if far
/// below where the rounding cuts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
}

/// What a bit pattern means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

/// The meaning of a bit pattern.
#[inline(always)]
pub(super) fn unpack(layout: Layout, bits: u64) -> Value {
    let negative = bits & layout.sign() != 0;
    let magnitude = bits & (layout.sign() - 1);
    if layout.is_nan(bits) {
        return Value::Nan;
    }
    if magnitude == layout.infinity {
        return Value::Infinite { negative };
    }
    let magnitude = magnitude >> layout.spare;
    let field = (magnitude >> layout.fraction) as i32;
    let fraction = magnitude & ((1 << layout.fraction) - 1);
    let significand = if field == 0 { fraction } else { fraction | 1 << layout.fraction };
    let exponent = layout.min_exponent - layout.fraction as i32 + (field - 1).max(0);
    Value::Finite(Exact { negative, significand: significand.into(), exponent })
}

/// The bits of a value in a format, rounded once. What is beyond the largest number becomes that or infinity as the
/// rounding says; with `finite`, always the largest number.
#[inline(always)]
pub(super) fn pack(layout: Layout, value: Value, round: Round, finite: bool) -> u64 {
    match value {
        Value::Nan => layout.nan,
        Value::Infinite { negative } => {
            let magnitude = if finite { layout.max } else { layout.infinity };
            magnitude | if negative { layout.sign() } else { 0 }
        }
        Value::Finite(exact) => pack_exact(layout, exact, round, finite),
    }
}

#[inline(always)]
fn pack_exact(layout: Layout, exact: Exact, round: Round, finite: bool) -> u64 {
    let Exact { negative, significand, exponent } = exact;
    let sign = if negative { layout.sign() } else { 0 };
    if significand == 0 {
        return sign;
    }
    // Below bit 63, so that half of the unit is representable at every shift less than 64.
    let wide = (65 - significand.leading_zeros() as i32).max(0) as u32;
    let small = shift_right_jam(significand, wide) as u64;
    let exponent = exponent + wide as i32;
    let leading = exponent + 63 - small.leading_zeros() as i32;

    let unit = leading.max(layout.min_exponent) - layout.fraction as i32;
    let shift = unit - exponent;
    let (mut whole, rest) = if shift <= 0 {
        (small << -shift, Rest::None)
    } else if shift >= 64 {
        (0, Rest::Less)
    } else {
        let rest = small & ((1 << shift) - 1);
        (small >> shift, Rest::of(rest, 1 << (shift - 1)))
    };
    let up = match round {
        Round::Nearest => rest == Rest::More || (rest == Rest::Half && whole & 1 == 1),
        Round::NearestAway => rest >= Rest::Half,
        Round::Zero => false,
        Round::Down => negative && rest != Rest::None,
        Round::Up => !negative && rest != Rest::None,
    };
    whole += u64::from(up);

    // The leading one of a normal number adds one to the exponent field.
    let field = i64::from(unit) + i64::from(layout.fraction) - i64::from(layout.min_exponent);
    let encoded = if field > 0x7ff { u64::MAX } else { (((field as u64) << layout.fraction) + whole) << layout.spare };
    if encoded <= layout.max {
        return sign | encoded;
    }
    let to_infinity = match round {
        Round::Nearest | Round::NearestAway => true,
        Round::Zero => false,
        Round::Down => negative,
        Round::Up => !negative,
    };
    sign | if to_infinity && !finite { layout.infinity } else { layout.max }
}

/// How much a rounding cuts off, against half of the unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    None,
    Less,
    Half,
    More,
}

impl Rest {
    #[inline(always)]
    fn of(rest: u64, half: u64) -> Rest {
        match rest.cmp(&half) {
            _ if rest == 0 => Rest::None,
            std::cmp::Ordering::Less => Rest::Less,
            std::cmp::Ordering::Equal => Rest::Half,
            std::cmp::Ordering::Greater => Rest::More,
        }
    }
}

/// `x >> by`, with the lowest bit set if a one was lost.
#[inline(always)]
fn shift_right_jam(x: u128, by: u32) -> u128 {
    match by {
        0 => x,
        1..128 => x >> by | u128::from(x << (128 - by) != 0),
        _ => u128::from(x != 0),
    }
}

/// The opposite.
#[inline(always)]
pub(super) fn neg(a: Value) -> Value {
    match a {
        Value::Nan => Value::Nan,
        Value::Infinite { negative } => Value::Infinite { negative: !negative },
        Value::Finite(x) => Value::Finite(Exact { negative: !x.negative, ..x }),
    }
}

/// The sum. The rounding is needed for the sign of an exact zero: negative when rounding down.
#[inline(always)]
pub(super) fn add(a: Value, b: Value, round: Round) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite { negative: x }, Value::Infinite { negative: y }) if x != y => Value::Nan,
        (Value::Infinite { negative }, _) | (_, Value::Infinite { negative }) => Value::Infinite { negative },
        (Value::Finite(x), Value::Finite(y)) => Value::Finite(add_exact(x, y, round)),
    }
}

#[inline(always)]
fn add_exact(x: Exact, y: Exact, round: Round) -> Exact {
    if x.significand == 0 && y.significand == 0 {
        let negative = if x.negative == y.negative { x.negative } else { round == Round::Down };
        return Exact { negative, ..x };
    }
    if x.significand == 0 {
        return y;
    }
    if y.significand == 0 {
        return x;
    }
    // Leading ones at bit 126: a carry fits. A product has at most 106 bits, so a shift by one loses nothing; after a
    // longer one no more than one bit cancels, and what is jammed stays far below the cut.
    let top = |e: Exact| {
        let by = e.significand.leading_zeros() - 1;
        Exact { significand: e.significand << by, exponent: e.exponent - by as i32, ..e }
    };
    let (x, y) = (top(x), top(y));
    let (big, small) = if x.exponent >= y.exponent { (x, y) } else { (y, x) };
    let low = shift_right_jam(small.significand, (big.exponent - small.exponent) as u32);
    if big.negative == small.negative {
        return Exact { significand: big.significand + low, ..big };
    }
    let significand = big.significand.abs_diff(low);
    let negative = match big.significand.cmp(&low) {
        std::cmp::Ordering::Greater => big.negative,
        std::cmp::Ordering::Equal => round == Round::Down,
        std::cmp::Ordering::Less => small.negative,
    };
    Exact { negative, significand, exponent: big.exponent }
}

/// The product, exact for significands of up to 64 bits.
#[inline(always)]
pub(super) fn mul(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
        (Value::Infinite { negative: x }, Value::Infinite { negative: y }) => Value::Infinite { negative: x != y },
        (Value::Infinite { negative }, Value::Finite(x)) | (Value::Finite(x), Value::Infinite { negative }) => {
            if x.significand == 0 { Value::Nan } else { Value::Infinite { negative: negative != x.negative } }
        }
        (Value::Finite(x), Value::Finite(y)) => Value::Finite(Exact {
            negative: x.negative != y.negative,
            significand: x.significand * y.significand,
            exponent: x.exponent + y.exponent,
        }),
    }
}

/// The quotient: 63 or more bits of it, jammed.
#[inline(always)]
pub(super) fn div(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite { .. }, Value::Infinite { .. }) => Value::Nan,
        (Value::Infinite { negative }, Value::Finite(x)) => Value::Infinite { negative: negative != x.negative },
        (Value::Finite(x), Value::Infinite { negative }) => {
            Value::Finite(Exact { negative: negative != x.negative, significand: 0, exponent: 0 })
        }
        (Value::Finite(x), Value::Finite(y)) => match (x.significand, y.significand) {
            (0, 0) => Value::Nan,
            (_, 0) => Value::Infinite { negative: x.negative != y.negative },
            (0, _) => Value::Finite(Exact { negative: x.negative != y.negative, ..x }),
            (n, d) => {
                let by = n.leading_zeros();
                let n = n << by;
                let d_by = d.leading_zeros() - 64;
                let d = d << d_by;
                Value::Finite(Exact {
                    negative: x.negative != y.negative,
                    significand: (n / d) | u128::from(n % d != 0),
                    exponent: x.exponent - by as i32 - y.exponent + d_by as i32,
                })
            }
        },
    }
}

/// The square root: 63 bits of it, jammed. The root of -0 is -0.
#[inline(always)]
pub(super) fn sqrt(a: Value) -> Value {
    match a {
        Value::Nan | Value::Infinite { negative: true } => Value::Nan,
        Value::Infinite { negative: false } => a,
        Value::Finite(x) if x.significand == 0 => a,
        Value::Finite(x) if x.negative => Value::Nan,
        Value::Finite(x) => {
            let by = x.significand.leading_zeros();
            let by = by - (x.exponent - by as i32).rem_euclid(2) as u32;
            let square = x.significand << by;
            let root = square.isqrt();
            Value::Finite(Exact {
                negative: false,
                significand: root | u128::from(root * root != square),
                exponent: (x.exponent - by as i32) / 2,
            })
        }
    }
}
