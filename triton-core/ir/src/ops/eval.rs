//! Evaluation of elementwise operations: used by the interpreter and by constant folding.
//!
//! Elements are their bits, zero-extended to 64. Integers are computed in their own width; `f16` and `bf16` in `f32` (whose
//! 24 bits make rounding twice the same as rounding once for + − · / √), `fma` through an exact product.

use super::kinds::{BinaryKind, CompareKind, TernaryKind, UnaryKind};
use super::steps::Now;
use super::{double, log, trig};
use crate::types::half;
use crate::types::{Class, Constant, DType, bf16_bits, f16_bits};

/// Integer division by zero, or the quotient that does not fit (`MIN / -1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivisionError {
    /// x / 0 or x % 0.
    ByZero,
    /// `MIN / -1`.
    Overflow,
}

/// An integer type with its bits.
trait Int: Copy + Ord {
    fn get(bits: u64) -> Self;
    fn put(self) -> u64;
    fn unary(kind: UnaryKind, x: Self) -> Self;
    fn binary(kind: BinaryKind, a: Self, b: Self) -> Result<Self, DivisionError>;
    fn multiply_add(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! int {
    ($($t:ty, $u:ty, $abs:expr;)*) => { $(
        impl Int for $t {
            fn get(bits: u64) -> Self { bits as $t }
            fn put(self) -> u64 { self as $u as u64 }
            fn multiply_add(a: Self, b: Self, c: Self) -> Self {
                a.wrapping_mul(b).wrapping_add(c)
            }
            #[inline(always)]
            fn unary(kind: UnaryKind, x: Self) -> Self {
                match kind {
                    UnaryKind::Neg => x.wrapping_neg(),
                    UnaryKind::Not => !x,
                    UnaryKind::Abs => { let abs: fn($t) -> $t = $abs; abs(x) }
                    UnaryKind::Sqrt | UnaryKind::Rsqrt | UnaryKind::Floor | UnaryKind::Ceil | UnaryKind::Trunc | UnaryKind::Exp
                    | UnaryKind::Exp2 | UnaryKind::Exp2Ftz | UnaryKind::Log | UnaryKind::Log2 | UnaryKind::Sin | UnaryKind::Cos
                    | UnaryKind::TanhApprox | UnaryKind::Tf32 => x,
                }
            }
            #[inline(always)]
            fn binary(kind: BinaryKind, a: Self, b: Self) -> Result<Self, DivisionError> {
                Ok(match kind {
                    BinaryKind::Add => a.wrapping_add(b),
                    BinaryKind::Sub => a.wrapping_sub(b),
                    BinaryKind::Mul => a.wrapping_mul(b),
                    // Of the bits that 128 do not hold, none is among these.
                    BinaryKind::MulHi => ((a as i128).wrapping_mul(b as i128) >> <$t>::BITS) as $t,
                    BinaryKind::Div if b == 0 => return Err(DivisionError::ByZero),
                    BinaryKind::Div => a.checked_div(b).ok_or(DivisionError::Overflow)?,
                    BinaryKind::Rem if b == 0 => return Err(DivisionError::ByZero),
                    BinaryKind::Rem => a.checked_rem(b).ok_or(DivisionError::Overflow)?,
                    BinaryKind::Min => a.min(b),
                    BinaryKind::Max => a.max(b),
                    BinaryKind::And => a & b,
                    BinaryKind::Or => a | b,
                    BinaryKind::Xor => a ^ b,
                    BinaryKind::Shl => a.checked_shl(amount(b.put())).unwrap_or(0),
                    // Shifting by width − 1 leaves 0 or the sign, which is the meaning of every larger shift, too.
                    BinaryKind::Shr if b.put() >= u64::from(<$t>::BITS) => if <$t>::MIN == 0 { 0 } else { a >> (<$t>::BITS - 1) },
                    BinaryKind::Shr => a >> (b.put() as u32),
                })
            }
        }
    )* };
}

int! {
    i8, u8, i8::wrapping_abs;
    i16, u16, i16::wrapping_abs;
    i32, u32, i32::wrapping_abs;
    i64, u64, i64::wrapping_abs;
    u8, u8, |x| x;
    u16, u16, |x| x;
    u32, u32, |x| x;
    u64, u64, |x| x;
}

fn amount(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}

/// A float type with its bits and the type it is computed in.
trait Float: Copy {
    type Wide: Wide;
    fn get(bits: u64) -> Self::Wide;
    fn put(wide: Self::Wide) -> u64;
    fn fma(a: Self::Wide, b: Self::Wide, c: Self::Wide) -> u64;
}

trait Wide: Copy + PartialOrd {
    fn unary(kind: UnaryKind, x: Self) -> Self;
    fn binary(kind: BinaryKind, a: Self, b: Self) -> Self;
}

/// The functions that are approximated, each in its own way for a type.
struct Functions<T> {
    exp: fn(T) -> T,
    exp2: fn(T) -> T,
    log: fn(T) -> T,
    log2: fn(T) -> T,
    sin: fn(T) -> T,
    cos: fn(T) -> T,
}

/// The target's own exponentials have an error that is larger than what `f64` leaves.
const SINGLE: Functions<f32> = Functions {
    exp: |x| f64::from(x).exp() as f32,
    exp2: |x| f64::from(x).exp2() as f32,
    log: |x| Now::function(log::log, x),
    log2: |x| Now::function(log::log2, x),
    sin: |x| Now::function(|s, x| trig::sin(s, [x], false)[0], x),
    cos: |x| Now::function(|s, x| trig::cos(s, [x], false)[0], x),
};

const DOUBLE: Functions<f64> = Functions {
    exp: |x| Now::wide_function(double::exp::exp, x),
    exp2: |x| Now::wide_function(double::exp::exp2, x),
    log: |x| Now::wide_function(double::log::log, x),
    log2: |x| Now::wide_function(double::log::log2, x),
    sin: |x| Now::wide_function(|s, x| double::trig::sin(s, [x])[0], x),
    cos: |x| Now::wide_function(|s, x| double::trig::cos(s, [x])[0], x),
};

macro_rules! wide {
    ($($t:ty, $functions:ident;)*) => { $(
        impl Wide for $t {
            #[inline(always)]
            fn unary(kind: UnaryKind, x: Self) -> Self {
                match kind {
                    UnaryKind::Neg => -x,
                    UnaryKind::Abs => x.abs(),
                    UnaryKind::Sqrt => x.sqrt(),
                    UnaryKind::Floor => x.floor(),
                    UnaryKind::Ceil => x.ceil(),
                    UnaryKind::Trunc => x.trunc(),
                    // The target's own error is larger than what `f64` leaves; of `f64` itself it is the same two steps.
                    UnaryKind::Rsqrt => (1.0 / f64::from(x).sqrt()) as $t,
                    UnaryKind::Exp => ($functions.exp)(x),
                    UnaryKind::Exp2 => ($functions.exp2)(x),
                    UnaryKind::Exp2Ftz => Some(($functions.exp2)(x)).filter(|y| !y.is_subnormal()).unwrap_or(0.0),
                    UnaryKind::Log => ($functions.log)(x),
                    UnaryKind::Log2 => ($functions.log2)(x),
                    UnaryKind::Sin => ($functions.sin)(x),
                    UnaryKind::Cos => ($functions.cos)(x),
                    UnaryKind::TanhApprox => f64::from(x).tanh() as $t,
                    UnaryKind::Tf32 => tf32(x as f32) as $t,
                    UnaryKind::Not => x,
                }
            }
            #[inline(always)]
            fn binary(kind: BinaryKind, a: Self, b: Self) -> Self {
                match kind {
                    BinaryKind::Add => a + b,
                    BinaryKind::Sub => a - b,
                    BinaryKind::Mul => a * b,
                    BinaryKind::Div => a / b,
                    // The sign decides between zeros; Rust's `min` and `max` leave that open.
                    BinaryKind::Min if a == b => if a.is_sign_negative() { a } else { b },
                    BinaryKind::Min => a.min(b),
                    BinaryKind::Max if a == b => if a.is_sign_negative() { b } else { a },
                    BinaryKind::Max => a.max(b),
                    BinaryKind::MulHi | BinaryKind::Rem | BinaryKind::And | BinaryKind::Or | BinaryKind::Xor | BinaryKind::Shl
                    | BinaryKind::Shr => a,
                }
            }
        }
    )* };
}
wide! {
    f32, SINGLE;
    f64, DOUBLE;
}

/// To the nearest number with 10 mantissa bits, ties to even; beyond the largest one that is ∞.
fn tf32(x: f32) -> f32 {
    let bits = x.to_bits();
    if x.is_finite() { f32::from_bits((bits + 0xfff + (bits >> 13 & 1)) & !0x1fff) } else { x }
}

#[derive(Clone, Copy)]
struct F16;
#[derive(Clone, Copy)]
struct BF16;
#[derive(Clone, Copy)]
struct F32;
#[derive(Clone, Copy)]
struct F64;

impl Float for F16 {
    type Wide = f32;
    fn get(bits: u64) -> f32 {
        half::f16_to_f32(bits as u16)
    }
    fn put(wide: f32) -> u64 {
        u64::from(half::f16_from_f32(wide))
    }
    fn fma(a: f32, b: f32, c: f32) -> u64 {
        f16_bits(fma_to_odd(a, b, c))
    }
}

impl Float for BF16 {
    type Wide = f32;
    fn get(bits: u64) -> f32 {
        half::bf16_to_f32(bits as u16)
    }
    fn put(wide: f32) -> u64 {
        u64::from(half::bf16_from_f32(wide))
    }
    fn fma(a: f32, b: f32, c: f32) -> u64 {
        bf16_bits(fma_to_odd(a, b, c))
    }
}

impl Float for F32 {
    type Wide = f32;
    fn get(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    fn put(wide: f32) -> u64 {
        u64::from(wide.to_bits())
    }
    fn fma(a: f32, b: f32, c: f32) -> u64 {
        Self::put(a.mul_add(b, c))
    }
}

impl Float for F64 {
    type Wide = f64;
    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn put(wide: f64) -> u64 {
        wide.to_bits()
    }
    fn fma(a: f64, b: f64, c: f64) -> u64 {
        Self::put(a.mul_add(b, c))
    }
}

/// a · b + c in `f64`, rounded to odd: the product of two 11-bit numbers is exact, and an odd last bit where the sum was
/// not exact makes the following rounding to 11 bits or fewer the same as if it were the only one
/// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
fn fma_to_odd(a: f32, b: f32, c: f32) -> f64 {
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c;
    if !sum.is_finite() {
        return sum;
    }
    let c_part = sum - p;
    let error = (p - (sum - c_part)) + (c - c_part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Runs `$body` with `$T` standing for the lane type of `$dtype`.
macro_rules! with_lane {
    ($dtype:expr, int $I:ident => $int:expr, float $F:ident => $float:expr, bool => $bool:expr) => {
        match $dtype {
            DType::Bool => $bool,
            DType::I8 => {
                type $I = i8;
                $int
            }
            DType::I16 => {
                type $I = i16;
                $int
            }
            DType::I32 => {
                type $I = i32;
                $int
            }
            DType::I64 => {
                type $I = i64;
                $int
            }
            DType::U8 => {
                type $I = u8;
                $int
            }
            DType::U16 => {
                type $I = u16;
                $int
            }
            DType::U32 => {
                type $I = u32;
                $int
            }
            DType::U64 => {
                type $I = u64;
                $int
            }
            DType::F16 => {
                type $F = F16;
                $float
            }
            DType::BF16 => {
                type $F = BF16;
                $float
            }
            DType::F32 => {
                type $F = F32;
                $float
            }
            DType::F64 => {
                type $F = F64;
                $float
            }
        }
    };
}

/// A [`UnaryKind`] on every element.
pub fn unary(kind: UnaryKind, dtype: DType, x: &[u64]) -> Vec<u64> {
    with_lane!(dtype,
        int I => x.iter().map(|&x| I::unary(kind, I::get(x)).put()).collect(),
        float F => x.iter().map(|&x| F::put(Wide::unary(kind, F::get(x)))).collect(),
        bool => x.iter().map(|&x| x ^ 1).collect())
}

/// A [`BinaryKind`] on every pair.
///
/// # Errors
/// The index of the first pair that cannot be divided.
pub fn binary(kind: BinaryKind, dtype: DType, a: &[u64], b: &[u64]) -> Result<Vec<u64>, (usize, DivisionError)> {
    let pairs = || a.iter().zip(b);
    Ok(with_lane!(dtype,
        int I => {
            let mut out = Vec::with_capacity(a.len());
            for (i, (&a, &b)) in pairs().enumerate() {
                out.push(I::binary(kind, I::get(a), I::get(b)).map_err(|e| (i, e))?.put());
            }
            out
        },
        float F => pairs().map(|(&a, &b)| F::put(Wide::binary(kind, F::get(a), F::get(b)))).collect(),
        bool => pairs().map(|(&a, &b)| match kind {
            BinaryKind::And => a & b,
            BinaryKind::Or => a | b,
            BinaryKind::Xor => a ^ b,
            BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul | BinaryKind::MulHi | BinaryKind::Div | BinaryKind::Rem | BinaryKind::Min
            | BinaryKind::Max | BinaryKind::Shl | BinaryKind::Shr => a,
        }).collect()))
}

/// A [`BinaryKind`] on one pair.
///
/// # Errors
/// It cannot be divided.
pub fn binary_one(kind: BinaryKind, dtype: DType, a: u64, b: u64) -> Result<u64, DivisionError> {
    Ok(binary(kind, dtype, &[a], &[b]).map_err(|(_, error)| error)?.first().copied().unwrap_or(0))
}

/// A [`CompareKind`] on every pair; 1 where it holds.
pub fn compare(kind: CompareKind, dtype: DType, a: &[u64], b: &[u64]) -> Vec<u64> {
    fn holds<T: PartialOrd>(kind: CompareKind, a: T, b: T) -> u64 {
        u64::from(match kind {
            CompareKind::Eq => a == b,
            CompareKind::Ne => a != b,
            CompareKind::Lt => a < b,
            CompareKind::Le => a <= b,
            CompareKind::Gt => a > b,
            CompareKind::Ge => a >= b,
        })
    }
    let pairs = a.iter().zip(b);
    with_lane!(dtype,
        int I => pairs.map(|(&a, &b)| holds(kind, I::get(a), I::get(b))).collect(),
        float F => pairs.map(|(&a, &b)| holds(kind, F::get(a), F::get(b))).collect(),
        bool => pairs.map(|(a, b)| holds(kind, a, b)).collect())
}

/// A [`TernaryKind`] on every triple.
pub fn ternary(kind: TernaryKind, dtype: DType, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let TernaryKind::Fma = kind;
    let triples = a.iter().zip(b).zip(c);
    with_lane!(dtype,
        int I => triples.map(|((&a, _), _)| I::get(a).put()).collect(),
        float F => triples.map(|((&a, &b), &c)| F::fma(F::get(a), F::get(b), F::get(c))).collect(),
        bool => triples.map(|((&a, _), _)| a).collect())
}

/// a · b + c, rounded once; integers wrap.
pub fn multiply_add(dtype: DType, a: u64, b: u64, c: u64) -> u64 {
    with_lane!(dtype,
        int I => I::multiply_add(I::get(a), I::get(b), I::get(c)).put(),
        float F => F::fma(F::get(a), F::get(b), F::get(c)),
        bool => c)
}

/// Every element in another type; see [`super::Op::Cast`].
pub fn cast(from: DType, to: DType, x: &[u64]) -> Vec<u64> {
    x.iter().map(|&bits| cast_one(Constant { dtype: from, bits }, to)).collect()
}

fn cast_one(x: Constant, to: DType) -> u64 {
    let Some(int) = x.as_int() else {
        let float = x.as_float().unwrap_or_default();
        return match to {
            DType::F16 => f16_bits(float),
            DType::BF16 => bf16_bits(float),
            DType::F32 => u64::from((float as f32).to_bits()),
            DType::F64 => float.to_bits(),
            DType::I8 => (float as i8).put(),
            DType::I16 => (float as i16).put(),
            DType::I32 => (float as i32).put(),
            DType::I64 => (float as i64).put(),
            DType::U8 => (float as u8).put(),
            DType::U16 => (float as u16).put(),
            DType::U32 => (float as u32).put(),
            DType::U64 => float as u64,
            DType::Bool => u64::from(float != 0.0),
        };
    };
    match to.class() {
        Class::Bool | Class::Signed | Class::Unsigned => Constant::int(to, int).bits,
        Class::Float => match to {
            DType::F64 => (int as f64).to_bits(),
            DType::F32 => u64::from((int as f32).to_bits()),
            // A 64-bit integer beyond 2⁵³ is far out of f16's range; for bf16 the odd bit keeps the second rounding honest.
            DType::F16 => f16_bits(int_to_odd(int)),
            DType::BF16 => bf16_bits(int_to_odd(int)),
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => 0,
        },
    }
}

/// An integer in `f64`, rounded to odd.
fn int_to_odd(int: i128) -> f64 {
    let near = int as f64;
    let error = int - near as i128;
    if error == 0 || near.to_bits() & 1 == 1 {
        return near;
    }
    let away = (error > 0) == (near > 0.0);
    f64::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}
