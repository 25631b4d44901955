//! The accumulation of products in a matrix unit.
//!
//! The ISA leaves it unspecified. The model has the form that measurements on tensor cores found: Fasi, Higham,
//! Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 2021, and Khattak, Mikaitis,
//! "Accurate models of NVIDIA tensor cores", 2025. A step takes the accumulator and a group of neighbouring exact
//! products, aligns all of them to the largest exponent, cuts each off below a last bit, adds exactly and rounds once:
//! toward zero to `f32`, to nearest even to `f16`. An exponent is that of the operands' fields, so a product below 4
//! counts as one below 2, and a subnormal operand has the smallest exponent. What overflows is infinite. A zero is +0,
//! even the sum of negative ones or of what is too small. A NaN has the canonical bits; infinities do what they do in a
//! sum. A `tf32` is cut to its 19 bits first, so that a NaN may become an infinity.
//!
//! The numbers for Hopper are those of an H200: they reproduce each of its recorded results of `mma` and `wgmma` of all
//! types bit for bit (`tests/accumulate.rs`; random numbers, powers of two, cancellation at all distances, subnormal
//! and huge numbers, infinities, NaN and zeros).
//!
//! | operands        | products of a step      | bits below the largest exponent | fraction of an `f32` |
//! |-----------------|-------------------------|---------------------------------|----------------------|
//! | `f16`, `bf16`   | 16                      | 25                              | 23                   |
//! | `tf32`          | 8                       | 25                              | 23                   |
//! | 8 bits, `wgmma` | 32                      | 13                              | 13                   |
//! | 8 bits, `mma`   | 16, as [`Order::Pairs`] | 25                              | 23                   |
//!
//! An `f64` sum is a chain of fused multiply-adds in the order of k. Sums of integers are exact and are wrapped or clamped
//! once.
//!
//! The numbers for other chips are those of the papers.

use super::float::Fma;
use super::format::{self, Nearest, Op};
use super::{Float, Round, from_f64, to_f64};

/// The order of additions in one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The accumulator is a term of the first step, the sum of a step one of the next.
    Chain,
    /// How Hopper does `mma` of 8-bit operands, by two of `f16`: a step from zero adds the products of which bit 1 of k
    /// is 0, the next the others, and the accumulator is added last, rounded to nearest even. At most 32 products.
    Pairs,
}

/// How a matrix unit adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulate {
    /// The order of steps.
    pub order: Order,
    /// The products of a step.
    pub group: usize,
    /// The bits kept below the largest exponent: 23 are those of `f32`.
    pub kept_bits: i32,
    /// The fraction bits of a result of type `f32`.
    pub result_bits: u32,
    /// The exponent of the smallest normal operand. A subnormal one has it too: it is not normalised.
    pub min_exponent: i32,
}

impl Accumulate {
    /// The units of an architecture (`sm_80` is 80) for operands of a type. `wgmma` adds 8-bit operands with few bits;
    /// `mma` of Hopper does them as `f16`.
    pub fn of(sm: u32, operands: Float, wgmma: bool) -> Accumulate {
        let layout = operands.layout();
        let bytes = layout.bits as usize / 8;
        let model = |group, kept_bits| Accumulate {
            order: Order::Chain,
            group,
            kept_bits,
            result_bits: 23,
            min_exponent: layout.min_exponent,
        };
        match (sm, bytes) {
            (..80, _) => model(4, 23),
            (89, 1) => Accumulate { result_bits: 13, ..model(16, 13) },
            (80..90, _) => model((16 / bytes).min(8), 24),
            (_, 1) if wgmma => Accumulate { result_bits: 13, ..model(32, 13) },
            (_, 1) => {
                let min_exponent = Float::F16.layout().min_exponent;
                Accumulate { order: Order::Pairs, min_exponent, ..model(HALF, 25) }
            }
            _ => model(32 / bytes, 25),
        }
    }
}

/// The products of a step of [`Order::Pairs`].
const HALF: usize = 16;

/// `acc` + Σ `a[i]` `b[i]` of one instruction with an `f32` accumulator. The operands are numbers of 16 bits or fewer, or
/// of `tf32`.
pub fn accumulate_f32(acc: u32, a: &[f64], b: &[f64], model: Accumulate) -> u32 {
    let truncated = |sum: f64| {
        let cut = f64::from_bits(sum.to_bits() & (u64::MAX << (52 - model.result_bits)));
        // Normal numbers of `f32` fit exactly; what is beyond them becomes infinite.
        let exact = cut as f32;
        let fits = exact.is_normal() || exact.is_infinite();
        if fits { exact.to_bits().into() } else { from_f64(Float::F32, cut, Round::Zero) }
    };
    instruction(Float::F32, acc.into(), a, b, model, truncated) as u32
}

/// The same with an `f16` accumulator: each step is rounded to nearest.
pub fn accumulate_f16(acc: u16, a: &[f64], b: &[f64], model: Accumulate) -> u16 {
    let nearest = |sum: f64| from_f64(Float::F16, sum, Round::Nearest);
    instruction(Float::F16, acc.into(), a, b, model, nearest) as u16
}

/// All steps of an instruction. `round` makes the sum of one a number of type `ty`.
#[inline(always)]
fn instruction(ty: Float, acc: u64, a: &[f64], b: &[f64], model: Accumulate, round: impl Fn(f64) -> u64) -> u64 {
    let negative_zero = ty.layout().sign();
    let add = |acc: u64, a: &[f64], b: &[f64]| {
        let bits = round(step(to_f64(ty, acc), a, b, model));
        if bits == negative_zero { 0 } else { bits }
    };
    match model.order {
        Order::Chain => {
            let group = model.group.max(1);
            a.chunks(group).zip(b.chunks(group)).fold(acc, |acc, (a, b)| add(acc, a, b))
        }
        Order::Pairs => {
            let half = |all: &[f64], first: usize| -> [f64; HALF] {
                std::array::from_fn(|i| all.get(i / 2 * 4 + first + i % 2).copied().unwrap_or(0.0))
            };
            let sum = [0, 2].iter().fold(0, |sum, &first| add(sum, &half(a, first), &half(b, first)));
            // The sum of two numbers as `f64` is near enough to exact that the second rounding does no harm.
            from_f64(ty, to_f64(ty, sum) + to_f64(ty, acc), Round::Nearest)
        }
    }
}

/// A power of two.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The power of two of the exponent field of a number, at least `min`.
#[inline(always)]
fn magnitude(x: f64, min: f64) -> f64 {
    let power = f64::from_bits(x.to_bits() & f64::INFINITY.to_bits());
    if power > min { power } else { min }
}

/// `x` without what is below multiples of `2^-52 anchor`; `x` is smaller than `anchor`.
#[inline(always)]
fn cut(x: f64, anchor: f64) -> f64 {
    let size = x.abs();
    let rounded = (size + anchor) - anchor;
    let low = if rounded > size { rounded - anchor * f64::EPSILON } else { rounded };
    low.copysign(x)
}

/// Numbers that the host handles at once.
const LANES: usize = 4;

/// One step, before the rounding to the type of the accumulator. Everything is `f64`, so that the host can do it by lanes:
/// after the cut all terms are multiples of one unit, of which sums of any order are exact.
#[inline(always)]
fn step(acc: f64, a: &[f64], b: &[f64], model: Accumulate) -> f64 {
    let min = power(model.min_exponent);
    let mut tops = [0.0; LANES];
    let mut sums = [0.0; LANES];
    each(a, b, |a, b| {
        for i in 0..LANES {
            let product = a[i] * b[i];
            let size = if product == 0.0 { 0.0 } else { magnitude(a[i], min) * magnitude(b[i], min) };
            tops[i] = if size > tops[i] { size } else { tops[i] };
            sums[i] += product;
        }
    });
    // Infinities and NaN of operands, and their sums.
    let plain = acc + total(sums);
    if !plain.is_finite() {
        return plain;
    }
    let least = if acc == 0.0 { 0.0 } else { magnitude(acc, power(-126)) };
    let top = tops.into_iter().fold(least, |x, y| if x > y { x } else { y });
    let anchor = top * power(52 - model.kept_bits);
    let mut sums = [0.0; LANES];
    each(a, b, |a, b| {
        for i in 0..LANES {
            sums[i] += cut(a[i] * b[i], anchor);
        }
    });
    cut(acc, anchor) + total(sums)
}

#[inline(always)]
fn total(x: [f64; LANES]) -> f64 {
    (x[0] + x[1]) + (x[2] + x[3])
}

/// Maps all pairs of numbers, padded with zeros.
#[inline(always)]
fn each(a: &[f64], b: &[f64], mut with: impl FnMut([f64; LANES], [f64; LANES])) {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        with(*a, *b);
    }
    if !a_rest.is_empty() {
        let fill = |rest: &[f64]| std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0.0));
        with(fill(a_rest), fill(b_rest));
    }
}

/// `acc` + Σ `a[i]` `b[i]` in `f64`, one fused multiply-add after another: as `fma.rn.f64`, with the same NaN.
pub fn accumulate_f64(acc: u64, a: &[f64], b: &[f64]) -> u64 {
    a.iter().zip(b).fold(acc, |acc, (a, b)| Fma::eval::<format::F64, Nearest>(a.to_bits(), b.to_bits(), acc))
}

/// `acc` + Σ `a[i]` `b[i]` of integers; the exact sum is clamped to `s32` if `satfinite`, else its low 32 bits.
pub fn accumulate_s32(acc: u32, a: &[i32], b: &[i32], satfinite: bool) -> u32 {
    let sum = a.iter().zip(b).fold(i64::from(acc as i32), |sum, (a, b)| sum + i64::from(*a) * i64::from(*b));
    if satfinite { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
}
