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

/// Of a shard of a row: the greatest logit, the sum of exponentials relative to it, and the logit of the label, if the shard has it.
pub fn part(x: &[f64], label: Option<usize>) -> [Number; 3] {
    // The greatest one of no numbers is the least one of `f32`.
    let most = Number::from(x.iter().copied().fold(f64::from(f32::MIN), f64::max));
    let x = exact(x);
    let total = x.iter().map(|x| (*x - most).exp()).sum();
    [most, total, label.map_or(f64::NAN.into(), |label| x[label])]
}

/// Loss of a row of which there are parts, and the gradient of the logits of a shard, which may have the label.
pub fn of_parts(parts: &[[Number; 3]], shard: &[f64], label: Option<usize>) -> (Number, Vec<Number>) {
    let most = Number::from(parts.iter().map(|[most, ..]| most.value).fold(f64::NEG_INFINITY, f64::max));
    let total: Number = parts.iter().map(|[of, total, _]| *total * (*of - most).exp()).sum();
    let of_label = parts.iter().map(|[.., of]| of.value).fold(f64::NAN, f64::max);
    let of = |(j, x): (usize, &Number)| {
        let target = if of_label.is_nan() { f64::NAN } else { f64::from(label == Some(j)) };
        (*x - most).exp() / total - target
    };
    (total.ln() + (most - of_label), exact(shard).iter().enumerate().map(of).collect())
}
