//! Values at the edge: zeros of both signs, subnormal numbers, the largest ones, magnitudes far apart, infinities, NaN.

use super::{Random, Scalar, normal};

/// What the elements of an array are drawn from.
#[derive(Clone, Debug)]
pub enum Draw {
    /// Numbers of mean 0 and variance 1.
    Normal,
    /// Numbers from 1/2 to 3/2.
    Positive,
    /// Every fourth number at the edge, of at most this magnitude; the others of mean 0 and variance 1.
    Edge(f64),
    /// These numbers, which are never replaced.
    Fixed(Vec<f64>),
}

impl Draw {
    /// Every fourth number at the edge, whatever is finite.
    pub const ANY: Draw = Draw::Edge(f64::INFINITY);

    /// As many numbers, rounded to `T`.
    pub fn numbers<T: Scalar>(&self, random: &mut Random, count: usize) -> Vec<f64> {
        let numbers: Vec<f64> = match self {
            Draw::Normal => (0..count).map(|_| normal(random)).collect(),
            Draw::Positive => (0..count).map(|_| 0.5 + random.f64()).collect(),
            Draw::Edge(most) => (0..count).map(|_| finite::<T>(random, *most)).collect(),
            Draw::Fixed(numbers) => numbers.clone(),
        };
        numbers.into_iter().map(|number| T::of(number).value()).collect()
    }

    /// Whether an element may be replaced by one that is not finite.
    pub fn is_free(&self) -> bool {
        !matches!(self, Draw::Fixed(_))
    }
}

/// The finite numbers at the edge of a type, from the least magnitude to the greatest, without a sign.
pub fn magnitudes<T: Scalar>() -> Vec<f64> {
    let [least, normal, most] = T::range();
    let between = (normal.log2() as i32..most.log2() as i32).step_by(16).map(|exponent| 2f64.powi(exponent));
    [0.0, least, 3.0 * least, normal].into_iter().chain(between).chain([most.sqrt(), most / 2.0, most]).collect()
}

/// What is not finite.
pub const SPECIALS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn finite<T: Scalar>(random: &mut Random, most: f64) -> f64 {
    if random.u8(..4) > 0 {
        return normal(random);
    }
    let all: Vec<f64> = magnitudes::<T>().into_iter().filter(|magnitude| *magnitude <= most).collect();
    let magnitude = all[random.usize(..all.len())];
    if random.bool() { magnitude } else { -magnitude }
}
