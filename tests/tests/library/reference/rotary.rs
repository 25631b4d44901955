//! Rotary embeddings in `f64`.

use super::number::{Number, exact};
use triton_kernels::embedding::Pairs;

/// Of one head.
pub fn rotary(x: &[f64], cosines: &[f64], sines: &[f64], pairs: Pairs) -> Vec<Number> {
    let (x, half) = (exact(x), x.len() / 2);
    let mut y = x.clone();
    for (i, (c, s)) in cosines.iter().zip(sines).enumerate() {
        let [a, b] = match pairs {
            Pairs::Halves => [i, half + i],
            Pairs::Adjacent => [2 * i, 2 * i + 1],
            _ => panic!("no reference of {pairs:?}"),
        };
        (y[a], y[b]) = (x[a] * *c - x[b] * *s, x[a] * *s + x[b] * *c);
    }
    y
}
