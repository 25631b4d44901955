//! Cross entropy in `f64`.

/// Loss of a row, and the gradient of its logits. Differences come first, as sums would be rounded at the size of the logits.
pub fn cross_entropy(x: &[f64], label: usize, smoothing: f64, z: f64) -> (f64, Vec<f64>) {
    let n = x.len() as f64;
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = x.iter().map(|x| (x - most).exp()).sum();
    let lse = most + total.ln();
    let to_label = total.ln() + (most - x[label]);
    let to_all = |x: &f64| smoothing / n * (total.ln() + (most - x));
    let nll = if smoothing > 0.0 { (1.0 - smoothing) * to_label + x.iter().map(to_all).sum::<f64>() } else { to_label };
    let loss = if z > 0.0 { nll + z * lse * lse } else { nll };
    let of = |(j, x): (usize, &f64)| {
        let target = smoothing / n + if j == label { 1.0 - smoothing } else { 0.0 };
        let slope = if z > 0.0 { 1.0 + 2.0 * z * lse } else { 1.0 };
        (x - most).exp() / total * slope - target
    };
    (loss, x.iter().enumerate().map(of).collect())
}
