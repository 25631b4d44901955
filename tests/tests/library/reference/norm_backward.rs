//! Gradients of norms of rows in `f64`.

use super::norm::statistics;
use super::number::{Number, exact};

/// The gradients for x, weight and bias of one row.
pub fn norm_backward(x: &[f64], weight: &[f64], dy: &[f64], mean: bool, epsilon: f64) -> [Vec<Number>; 3] {
    let ((centre, scale), n) = (statistics(x, mean, epsilon), x.len() as f64);
    let normal: Vec<Number> = exact(x).iter().map(|x| (*x - centre) * scale).collect();
    let g: Vec<Number> = dy.iter().zip(weight).map(|(dy, w)| Number::from(*dy) * *w).collect();
    let along = g.iter().zip(&normal).map(|(g, n)| *g * *n).sum::<Number>() / n;
    let total = if mean { g.iter().copied().sum::<Number>() / n } else { 0.0.into() };
    let dx = g.iter().zip(&normal).map(|(g, n)| (*g - total - *n * along) * scale).collect();
    [dx, dy.iter().zip(&normal).map(|(dy, n)| *n * *dy).collect(), exact(dy)]
}
