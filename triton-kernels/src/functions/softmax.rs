//! The softmax of rows that are longer than a tile.

use triton::prelude::*;

/// The greatest number that was seen so far and the sum of exponentials relative to it, of each element of a tile, after one more tile of
/// numbers: online normalisation (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, algorithm 3). Begin with
/// `f32::MIN` and 0. An element may be −∞, which counts as nothing.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::{online_softmax, online_softmax_total};
///
/// /// out = log(Σ exp(x)) of each row, however long.
/// #[triton::kernel]
/// fn log_sum_exp(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
///     let row = program_id(0) * 4;
///     let (mut most, mut total) = (full([4, 64], f32::MIN), zeros::<f32>([4, 64]));
///     for j in (0..x.dim(1)).step_by(64) {
///         (most, total) = online_softmax(most, total, x.load_or([row, j], [4, 64], f32::NEG_INFINITY));
///     }
///     let (most, total) = online_softmax_total(most, total);
///     out.store([row], most + log(total));
/// }
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[0.0f32; 200], [2, 100])?;
/// let mut out = stream.tensor_zeros::<f32, _>([2])?;
/// log_sum_exp(&x, &mut out).launch(&stream, 1)?;
/// assert!((stream.download(&out)?[1] - 100f32.ln()).abs() < 1e-6);
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn online_softmax(most: Tile<f32>, total: Tile<f32>, x: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
    let next = maximum(most, x);
    (next, fma(total, exp(most - next), exp(x - next)))
}

/// The same of whole rows, from those of the elements of a tile `[rows, columns]`: two tiles `[rows]`.
#[triton::function]
pub fn online_softmax_total(most: Tile<f32>, total: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
    let row = max_axis(most, 1);
    (row, sum_axis(total * exp(most - row.expand_dims(1)), 1))
}
