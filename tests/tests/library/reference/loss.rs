//! Cross entropy in `f64`.

use super::number::{Number, exact};

/// Loss of a row, and the gradient of its logits. Differences come first, as sums would be rounded at the size of the logits.
pub fn cross_entropy(x: &[f64], label: usize, smoothing: f64, z: f64) -> (Number, Vec<Number>) {
    let n = x.len() as f64;
    let most = Number::from(x.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let x = exact(x);
    let total: Number = x.iter().map(|x| (*x - most).exp()).sum();
    let lse = most + total.ln();
    let to_label = total.ln() + (most - x[label]);
    let to_all = |x: &Number| (total.ln() + (most - *x)) * (smoothing / n);
    let nll =
        if smoothing > 0.0 { to_label * (1.0 - smoothing) + x.iter().map(to_all).sum::<Number>() } else { to_label };
    let loss = if z > 0.0 { nll + lse.square() * z } else { nll };
    let of = |(j, x): (usize, &Number)| {
        let target = smoothing / n + if j == label { 1.0 - smoothing } else { 0.0 };
        let slope = if z > 0.0 { lse * (2.0 * z) + 1.0 } else { 1.0.into() };
        (*x - most).exp() / total * slope - target
    };
    (loss, x.iter().enumerate().map(of).collect())
}
