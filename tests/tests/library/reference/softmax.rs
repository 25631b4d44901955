//! Softmax of rows and its gradient in `f64`.

/// Of one row; `log` gives the logarithm.
pub fn softmax(x: &[f64], log: bool) -> Vec<f64> {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return vec![if log { most } else { 0.0 }; x.len()];
    }
    let total: f64 = x.iter().map(|x| (x - most).exp()).sum();
    let of = |x: &f64| if log { x - most - total.ln() } else { (x - most).exp() / total };
    x.iter().map(of).collect()
}

/// The gradient for x of a row.
pub fn softmax_backward(y: &[f64], dy: &[f64], log: bool, scale: f64) -> Vec<f64> {
    let total: f64 = y.iter().zip(dy).map(|(y, dy)| if log { *dy } else { y * dy }).sum();
    let of = |(y, dy): (&f64, &f64)| scale * if log { dy - y.exp() * total } else { y * (dy - total) };
    y.iter().zip(dy).map(of).collect()
}
