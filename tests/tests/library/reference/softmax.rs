//! Softmax of rows and its gradient in `f64`.

use super::number::{Number, exact};

/// Of one row of exact numbers; `log` gives the logarithm.
pub fn softmax(x: &[f64], log: bool) -> Vec<Number> {
    softmax_of(&exact(x), log)
}

/// Of one row.
pub fn softmax_of(x: &[Number], log: bool) -> Vec<Number> {
    let most = Number::from(x.iter().map(|x| x.value).fold(f64::NEG_INFINITY, f64::max));
    if x.iter().all(|x| *x == Number::from(f64::NEG_INFINITY)) {
        return vec![if log { most } else { 0.0.into() }; x.len()];
    }
    let total: Number = x.iter().map(|x| (*x - most).exp()).sum();
    let of = |x: &Number| if log { *x - most - total.ln() } else { (*x - most).exp() / total };
    x.iter().map(of).collect()
}

/// The gradient for x of a row.
pub fn softmax_backward(y: &[f64], dy: &[f64], log: bool, scale: f64) -> Vec<Number> {
    let (y, dy) = (exact(y), exact(dy));
    let total: Number = y.iter().zip(&dy).map(|(y, dy)| if log { *dy } else { *y * *dy }).sum();
    let of = |(y, dy): (&Number, &Number)| if log { *dy - y.exp() * total } else { *y * (*dy - total) } * scale;
    y.iter().zip(&dy).map(of).collect()
}
