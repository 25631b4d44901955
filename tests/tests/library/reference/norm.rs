//! Norms of rows in `f64`.

use super::number::{Number, exact};

/// The mean of a row, 0 without it, and its scale.
pub fn statistics(x: &[f64], with_mean: bool, epsilon: f64) -> (Number, Number) {
    let n = x.len() as f64;
    let x = exact(x);
    let mean = if with_mean { x.iter().copied().sum::<Number>() / n } else { 0.0.into() };
    let variance = x.iter().map(|x| (*x - mean).square()).sum::<Number>() / n;
    (mean, 1.0 / (variance + epsilon).sqrt())
}

/// Of one row.
pub fn norm(x: &[f64], weight: &[f64], bias: Option<&[f64]>, epsilon: f64) -> Vec<Number> {
    let (mean, scale) = statistics(x, bias.is_some(), epsilon);
    let bias_of = |j: usize| bias.map_or(0.0, |bias| bias[j]);
    let of = |(j, x): (usize, &f64)| (Number::from(*x) - mean) * scale * weight[j] + bias_of(j);
    x.iter().enumerate().map(of).collect()
}
