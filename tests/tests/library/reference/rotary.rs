//! Rotary embeddings in `f64`.

use triton_kernels::rows::Pairs;

/// Of one head.
pub fn rotary(x: &[f64], cosines: &[f64], sines: &[f64], pairs: Pairs) -> Vec<f64> {
    let (mut y, half) = (x.to_vec(), x.len() / 2);
    for (i, (c, s)) in cosines.iter().zip(sines).enumerate() {
        let [a, b] = match pairs {
            Pairs::Halves => [i, half + i],
            Pairs::Adjacent => [2 * i, 2 * i + 1],
            _ => panic!("no reference of {pairs:?}"),
        };
        (y[a], y[b]) = (x[a] * c - x[b] * s, x[a] * s + x[b] * c);
    }
    y
}
