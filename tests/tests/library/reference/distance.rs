//! Distances between arrays in `f64`.

/// The loss, and the gradient for x.
pub fn distance(x: &[f64], target: &[f64], count: f64, kl: bool) -> (f64, Vec<f64>) {
    let of = |x: f64, t: f64| match (kl, t == 0.0) {
        (false, _) => ((x - t) * (x - t), 2.0 * (x - t)),
        (true, true) => (0.0, 0.0),
        (true, false) => (t * (t.ln() - x), -t),
    };
    let each: Vec<(f64, f64)> = x.iter().zip(target).map(|(x, t)| of(*x, *t)).collect();
    let scale = if x.is_empty() { 0.0 } else { 1.0 / count };
    (each.iter().map(|of| of.0).sum::<f64>() * scale, each.iter().map(|of| of.1 * scale).collect())
}
