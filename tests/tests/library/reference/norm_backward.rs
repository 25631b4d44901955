//! Gradients of norms of rows in `f64`.

use super::norm::statistics;

/// The gradients for x, weight and bias of one row.
pub fn norm_backward(x: &[f64], weight: &[f64], dy: &[f64], mean: bool, epsilon: f64) -> [Vec<f64>; 3] {
    let ((centre, scale), n) = (statistics(x, mean, epsilon), x.len() as f64);
    let normal: Vec<f64> = x.iter().map(|x| (x - centre) * scale).collect();
    let g: Vec<f64> = dy.iter().zip(weight).map(|(dy, w)| dy * w).collect();
    let along = g.iter().zip(&normal).map(|(g, n)| g * n).sum::<f64>() / n;
    let total = if mean { g.iter().sum::<f64>() / n } else { 0.0 };
    let dx = g.iter().zip(&normal).map(|(g, n)| (g - total - n * along) * scale).collect();
    [dx, dy.iter().zip(&normal).map(|(dy, n)| dy * n).collect(), dy.to_vec()]
}
