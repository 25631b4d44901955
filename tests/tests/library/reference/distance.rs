//! Distances between arrays in `f64`.

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
