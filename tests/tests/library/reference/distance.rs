//! Distances between arrays in `f64`.

use super::activation::sigmoid;
use super::number::Number;

/// The loss, and the gradient for x.
pub fn distance(x: &[f64], target: &[f64], count: f64, kl: bool) -> (Number, Vec<Number>) {
    let zero = Number::from(0.0);
    let of = |x: f64, t: f64| match (kl, t == 0.0) {
        (false, _) => ((Number::from(x) - t).square(), (Number::from(x) - t) * 2.0),
        (true, true) => (zero, zero),
        (true, false) => ((Number::from(t).ln() - x) * t, Number::from(-t)),
    };
    let each: Vec<(Number, Number)> = x.iter().zip(target).map(|(x, t)| of(*x, *t)).collect();
    let scale = if x.is_empty() { zero } else { Number::from(1.0) / count };
    (each.iter().map(|of| of.0).sum::<Number>() * scale, each.iter().map(|of| of.1 * scale).collect())
}

/// The mean loss of elements, and its gradient, of the losses and derivatives of each.
fn mean(each: &[(Number, Number)]) -> (Number, Vec<Number>) {
    let scale = if each.is_empty() { 0.0.into() } else { Number::from(1.0) / each.len() as f64 };
    (each.iter().map(|of| of.0).sum::<Number>() * scale, each.iter().map(|of| of.1 * scale).collect())
}

/// Half of the square of a difference below a bound, by `divisor`, and `slope` times the magnitude of others.
pub fn robust(x: &[f64], target: &[f64], bound: f64, divisor: f64, slope: f64) -> (Number, Vec<Number>) {
    let of = |(x, t): (&f64, &f64)| {
        let d = Number::from(*x) - *t;
        let a = d.abs();
        // Where rounding decides on which side a difference is, both agree.
        match (a.value < bound, a.value.is_nan()) {
            (true, _) => (a * (a / divisor) * 0.5, d / divisor),
            (_, true) => (a, d),
            _ => ((a - bound * 0.5) * slope, if d.value == 0.0 { d } else { Number::from(slope.copysign(d.value)) }),
        }
    };
    mean(&x.iter().zip(target).map(of).collect::<Vec<_>>())
}

/// The binary cross entropy of logits; positive targets have the weights of their columns, if there are weights.
pub fn bce(x: &[f64], target: &[f64], weights: Option<&[f64]>) -> (Number, Vec<Number>) {
    let softplus = |x: f64| Number::from(x.max(0.0)) + (Number::from(-x.abs()).exp() + 1.0).ln();
    let term = |factor: Number, of: Number| if factor.value == 0.0 { 0.0.into() } else { factor * of };
    let of = |(i, (x, t)): (usize, (&f64, &f64))| {
        let positive = Number::from(*t) * weights.map_or(1.0, |weights| weights[i % weights.len()]);
        let negative = Number::from(1.0) - *t;
        let x = *x;
        let (low, high) = if x.is_nan() { (x.into(), x.into()) } else { (softplus(-x), softplus(x)) };
        let slope = negative * sigmoid(x.into()) - positive * sigmoid((-x).into());
        (term(positive, low) + term(negative, high), slope)
    };
    mean(&x.iter().zip(target).enumerate().map(of).collect::<Vec<_>>())
}
