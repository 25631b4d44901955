//! Layer norm and RMS norm along rows.

use crate::Result;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// y = (x − mean) / √(variance + ε) · weight + bias along the last axis, or without MEAN x / √(mean of x² + ε) · weight. A program has R
/// rows: of at most N columns in registers, or, in a LOOP, of any number.
#[triton::kernel(T = [f32, f16, bf16], MEAN = [false, true], configs = [
    (R = 4, N = 1024, LOOP = false, num_warps = 4),
    (R = 4, N = 4096, LOOP = false, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 5120, LOOP = false, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 8192, LOOP = false, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 16384, LOOP = false, num_warps = 4, targets = ["sm_90a"]),
    (R = 2, N = 20480, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 2, N = 65536, LOOP = false, num_warps = 4, targets = ["sm_90a"]),
    (R = 1, N = 8192, LOOP = false, num_warps = 8, targets = ["sm_80"]),
    (R = 1, N = 2048, LOOP = true, num_warps = 8, targets = ["sm_80"], general = true),
], tune = [R, N, LOOP])]
pub(super) fn norm_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32, const LOOP: bool>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 2>,
    bias: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    means: TensorMut<f32, 1>,
    scales: TensorMut<f32, 1>,
    epsilon: f32,
) {
    norm_rows::<T, MEAN, false, R, N, LOOP>(x, x, weight, bias, y, y, means, scales, epsilon);
}

/// The same of x + `residual`, which is stored, too.
#[triton::kernel(T = [f32, f16, bf16], MEAN = [false, true], configs = [
    (R = 2, N = 1024, LOOP = false, num_warps = 4, targets = ["sm_80"]),
    (R = 1, N = 8192, LOOP = false, num_warps = 8, targets = ["sm_80"]),
    (R = 1, N = 2048, LOOP = true, num_warps = 8, targets = ["sm_80"], general = true),
], tune = [R, N, LOOP])]
pub(super) fn norm_sum_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32, const LOOP: bool>(
    x: Tensor<T, 2>,
    residual: Tensor<T, 2>,
    weight: Tensor<T, 2>,
    bias: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    summed: TensorMut<T, 2>,
    means: TensorMut<f32, 1>,
    scales: TensorMut<f32, 1>,
    epsilon: f32,
) {
    norm_rows::<T, MEAN, true, R, N, LOOP>(x, residual, weight, bias, y, summed, means, scales, epsilon);
}

/// What both do; with ADD of a sum.
#[triton::function]
fn norm_rows<T: Float, const MEAN: bool, const ADD: bool, const R: i32, const N: i32, const LOOP: bool>(
    x: Tensor<T, 2>,
    residual: Tensor<T, 2>,
    weight: Tensor<T, 2>,
    bias: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    summed: TensorMut<T, 2>,
    means: TensorMut<f32, 1>,
    scales: TensorMut<f32, 1>,
    epsilon: f32,
) {
    let row = program_id(0) * R;
    let n = x.dim(1).to::<i32>();
    let share = 1.0 / (n as f32);
    if LOOP {
        let mut mean = zeros::<f32>([R, 1]);
        if MEAN {
            let mut total = zeros::<f32>([R, N]);
            for j in (0..n).step_by(N) {
                total += added::<T, ADD, R, N>(x, residual, (row, j));
            }
            mean = sum_axis(total, 1).expand_dims(1) * share;
        }
        let mut squares = zeros::<f32>([R, N]);
        for j in (0..n).step_by(N) {
            let centred = added::<T, ADD, R, N>(x, residual, (row, j)) - mean;
            let inside = (j + arange(0, N) < n).expand_dims(0);
            squares += select(inside, centred * centred, 0.0);
        }
        let scale = rsqrt(sum_axis(squares, 1).expand_dims(1) * share + epsilon);
        for j in (0..n).step_by(N) {
            let v = added::<T, ADD, R, N>(x, residual, (row, j));
            if ADD {
                summed.store([row, j], v.to::<T>());
            }
            let w = weight.load([0, j], [1, N]).to::<f32>();
            let scaled = (v - mean) * scale;
            if MEAN {
                y.store([row, j], fma(scaled, w, bias.load([0, j], [1, N]).to::<f32>()).to::<T>());
            } else {
                y.store([row, j], (scaled * w).to::<T>());
            }
        }
        means.store([row], mean.reshape([R]));
        scales.store([row], scale.reshape([R]));
    } else {
        let v = added::<T, ADD, R, N>(x, residual, (row, 0));
        if ADD {
            summed.store([row, 0], v.to::<T>());
        }
        if MEAN {
            let mean = sum_axis(v, 1).expand_dims(1) * share;
            // Elements past the last column must not count.
            let inside = (arange(0, N) < n).expand_dims(0);
            let centred = v - mean;
            let variance = sum_axis(select(inside, centred * centred, 0.0), 1).expand_dims(1) * share;
            let scale = rsqrt(variance + epsilon);
            let (w, b) = (weight.load([0, 0], [1, N]).to::<f32>(), bias.load([0, 0], [1, N]).to::<f32>());
            y.store([row, 0], fma(centred * scale, w, b).to::<T>());
            means.store([row], mean.reshape([R]));
            scales.store([row], scale.reshape([R]));
        } else {
            let scale = rsqrt(sum_axis(v * v, 1).expand_dims(1) * share + epsilon);
            let w = weight.load([0, 0], [1, N]).to::<f32>();
            y.store([row, 0], (v * scale * w).to::<T>());
            scales.store([row], scale.reshape([R]));
        }
    }
}

/// x, or x + `residual` as it is stored.
#[triton::function]
fn added<T: Float, const ADD: bool, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    residual: Tensor<T, 2>,
    at: (i32, i32),
) -> Tile<f32> {
    let (row, j) = at;
    let v = x.load([row, j], [R, N]).to::<f32>();
    if ADD { (v + residual.load([row, j], [R, N]).to::<f32>()).to::<T>().to::<f32>() } else { v }
}

/// y = (x − mean) / √(variance + ε) · weight + bias along the last axis of x (Ba, Kiros and Hinton, "Layer normalization", 2016, section 3.1), as
/// `torch.nn.functional.layer_norm`.
///
/// It is computed in `f32`, the variance from differences to the mean, in an order that follows from the shapes: the result is the same each
/// time. A row of up to 8192 columns is read once; on compute capability 9.0 one of up to 65536. Longer ones are read three times.
///
/// A NaN or an infinity reaches its row alone. Numbers above 10¹⁸ have squares that are infinite.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::layer_norm;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0, 10.0, 30.0], [2, 2])?;
/// let (weight, bias) = (stream.tensor(&[1.0f32, 1.0], [2])?, stream.tensor(&[0.0f32, 100.0], [2])?);
/// let mut y = stream.tensor_uninit::<f32, _>([2, 2])?;
/// layer_norm(&x, &weight, &bias, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, 101.0, -1.0, 101.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LayerNorm, tuned)]
pub fn layer_norm<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(c)] bias: View<T, 1>,
    #[axes(.., c)] y: ViewMut<T, 2>,
    /// ε, which is added to the variance. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
    /// Adds `residual` to x first, and stores the sum, rounded to `T`: what a transformer does between its layers.
    #[axes(.., c)]
    residual: Option<View<T, 2>>,
    #[beside(residual)]
    #[axes(.., c)]
    sum: Option<ViewMut<T, 2>>,
    /// Stores the mean and 1 / √(variance + ε) of each row, which the gradient needs.
    #[axes(..)]
    #[setter(statistics)]
    mean: Option<ViewMut<f32, 1>>,
    #[beside(mean)]
    #[axes(..)]
    rstd: Option<ViewMut<f32, 1>>,
) -> Result<()> {
    let added = residual.zip(sum);
    norm::<T, true>(call, x, weight, Some(bias), y, added, mean, rstd, epsilon)
}

/// y = x / √(mean of x² + ε) · weight along the last axis of x (Zhang and Sennrich, "Root mean square layer normalization", 2019, section 3), as
/// `torch.nn.functional.rms_norm`. As [`layer_norm`] otherwise.
///
/// A NaN or an infinity reaches its row alone. Numbers above 10¹⁸ have squares that are infinite.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::rms_norm;
///
/// let stream = Device::cpu().stream()?;
/// let (x, weight) = (stream.tensor(&[2.0f32, -2.0], [1, 2])?, stream.tensor(&[1.0f32, 10.0], [2])?);
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
/// rms_norm(&x, &weight, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, -10.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(RmsNorm, tuned)]
pub fn rms_norm<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(.., c)] y: ViewMut<T, 2>,
    /// ε, which is added to the mean of squares. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
    /// Adds `residual` to x first, and stores the sum, rounded to `T`: what a transformer does between its layers.
    #[axes(.., c)]
    residual: Option<View<T, 2>>,
    #[beside(residual)]
    #[axes(.., c)]
    sum: Option<ViewMut<T, 2>>,
    /// Stores 1 / √(mean of x² + ε) of each row, which the gradient needs.
    #[axes(..)]
    #[setter(statistics)]
    rstd: Option<ViewMut<f32, 1>>,
) -> Result<()> {
    norm::<T, false>(call, x, weight, None, y, residual.zip(sum), None, rstd, epsilon)
}

/// Both: without MEAN there is neither a mean nor a bias.
#[expect(clippy::too_many_arguments, reason = "they are the operands")]
pub(super) fn norm<'c, T: FloatElement, const MEAN: bool>(
    call: Call<'c>,
    x: View<'c, T, 2>,
    weight: View<'c, T, 1>,
    bias: Option<View<'c, T, 1>>,
    y: ViewMut<'c, T, 2>,
    added: Option<(View<'c, T, 2>, ViewMut<'c, T, 2>)>,
    mean: Option<ViewMut<'c, f32, 1>>,
    rstd: Option<ViewMut<'c, f32, 1>>,
    epsilon: f32,
) -> Result<()>
where
    triton::Compiled: NormKernelPool<T, MEAN> + NormSumKernelPool<T, MEAN>,
{
    let [rows, columns] = x.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let weight = weight.split(0, [1, columns])?;
    let bias = call.view(bias.map(|bias| bias.split(0, [1, columns])).transpose()?);
    let (mean, rstd) = (call.view_mut(mean), call.view_mut(rstd));
    if let Some((r, sum)) = added {
        let kernel = norm_sum_kernel_tuned::<T, MEAN>(x, r, weight, bias, y, sum, mean, rstd, epsilon);
        call.tuned(kernel, |of| of.LOOP || of.N as usize >= columns, |of| rows.div_ceil(of.R as usize))
    } else {
        let kernel = norm_kernel_tuned::<T, MEAN>(x, weight, bias, y, mean, rstd, epsilon);
        call.tuned(kernel, |of| of.LOOP || of.N as usize >= columns, |of| rows.div_ceil(of.R as usize))
    }
}
