//! Layer norm and RMS norm along rows.

use crate::Result;
use crate::element::{FloatElement, operation};
use crate::error::{extent, same_shape, value};
use crate::pool::choose;
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
fn norm_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32, const LOOP: bool>(
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
fn norm_sum_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32, const LOOP: bool>(
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

/// Builder of a layer norm or RMS norm, returned by [`layer_norm`] and [`rms_norm`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Norm<'a, T> {
    op: &'static str,
    x: View<'a, T, 2>,
    weight: View<'a, T, 1>,
    bias: Option<View<'a, T, 1>>,
    y: ViewMut<'a, T, 2>,
    residual: Option<(View<'a, T, 2>, ViewMut<'a, T, 2>)>,
    means: Option<ViewMut<'a, f32, 1>>,
    scales: Option<ViewMut<'a, f32, 1>>,
    epsilon: f32,
    instance: Option<&'a str>,
}

/// y = (x − mean) / √(variance + ε) · weight + bias along the last axis of x `[rows, columns]` (Ba, Kiros and Hinton, "Layer
/// normalization", 2016, section 3.1); weight and bias `[columns]`, y as x.
///
/// It is computed in `f32`, the variance from differences to the mean, in an order that follows from the shapes: the result is the same each
/// time. A row of up to 8192 columns is read once; on compute capability 9.0 one of up to 65536. Longer ones are read three times.
///
/// A NaN or an infinity reaches its row alone. Numbers above 10¹⁸ have squares that are infinite.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::layer_norm;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0, 10.0, 30.0], [2, 2])?;
/// let (weight, bias) = (stream.tensor(&[1.0f32, 1.0], [2])?, stream.tensor(&[0.0f32, 100.0], [2])?);
/// let mut y = stream.tensor_uninit::<f32, _>([2, 2])?;
/// layer_norm(&x, &weight, &bias, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, 101.0, -1.0, 101.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn layer_norm<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 2>,
    weight: impl IntoView<'a, T, 1>,
    bias: impl IntoView<'a, T, 1>,
    y: impl IntoViewMut<'a, T, 2>,
) -> Norm<'a, T> {
    let none = (None, None, None);
    let (residual, means, scales) = none;
    let (op, epsilon) = (LAYER, 1e-5);
    Norm {
        op,
        x: x.into_view(),
        weight: weight.into_view(),
        bias: Some(bias.into_view()),
        y: y.into_view_mut(),
        residual,
        means,
        scales,
        epsilon,
        instance: None,
    }
}

/// y = x / √(mean of x² + ε) · weight along the last axis of x `[rows, columns]` (Zhang and Sennrich, "Root mean square layer
/// normalization", 2019, section 3); weight `[columns]`, y as x. As [`layer_norm`] otherwise.
///
/// A NaN or an infinity reaches its row alone. Numbers above 10¹⁸ have squares that are infinite.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::rms_norm;
///
/// let stream = Device::cpu().stream()?;
/// let (x, weight) = (stream.tensor(&[2.0f32, -2.0], [1, 2])?, stream.tensor(&[1.0f32, 10.0], [2])?);
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
/// rms_norm(&x, &weight, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, -10.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn rms_norm<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 2>,
    weight: impl IntoView<'a, T, 1>,
    y: impl IntoViewMut<'a, T, 2>,
) -> Norm<'a, T> {
    let none = (None, None, None);
    let (residual, means, scales) = none;
    let (op, epsilon) = (RMS, 1e-5);
    Norm {
        op,
        x: x.into_view(),
        weight: weight.into_view(),
        bias: None,
        y: y.into_view_mut(),
        residual,
        means,
        scales,
        epsilon,
        instance: None,
    }
}

const LAYER: &str = "layer_norm";
const RMS: &str = "rms_norm";

impl<'a, T: FloatElement> Norm<'a, T> {
    /// ε, which is added to the variance, or to the mean of squares. Default: 10⁻⁵.
    pub fn epsilon(self, epsilon: f32) -> Norm<'a, T> {
        Norm { epsilon, ..self }
    }

    /// Adds `residual` to x first, and stores the sum, rounded to `T`: what a transformer does between its layers. Both have the shape of x.
    pub fn residual(self, residual: impl IntoView<'a, T, 2>, sum: impl IntoViewMut<'a, T, 2>) -> Norm<'a, T> {
        Norm { residual: Some((residual.into_view(), sum.into_view_mut())), ..self }
    }

    /// Stores 1 / √(variance + ε) of each row, or 1 / √(mean of x² + ε), which the gradient needs: `[rows]`.
    pub fn scales(self, scales: impl IntoViewMut<'a, f32, 1>) -> Norm<'a, T> {
        Norm { scales: Some(scales.into_view_mut()), ..self }
    }

    /// Stores the mean of each row, which the gradient of a layer norm needs: `[rows]`. An RMS norm has none.
    pub fn means(self, means: impl IntoViewMut<'a, f32, 1>) -> Norm<'a, T> {
        Norm { means: Some(means.into_view_mut()), ..self }
    }

    /// Runs the instance of this name, instead of the first that fits.
    pub fn instance(self, name: &'a str) -> Norm<'a, T> {
        Norm { instance: Some(name), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) if ε is negative,
    /// [`Error::Unsupported`](crate::Error::Unsupported) for means of an RMS norm, [`Error::Instance`](crate::Error::Instance); errors of the
    /// device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: Norm by forward);

fn forward<T: FloatElement>(of: Norm<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled:
        NormKernelPool<T, true> + NormKernelPool<T, false> + NormSumKernelPool<T, true> + NormSumKernelPool<T, false>,
{
    let Norm { op, x, weight, bias, y, residual, means, scales, epsilon, instance } = of;
    let [rows, columns] = x.shape();
    let with_mean = bias.is_some();
    same_shape(op, "y", y.shape(), x.shape(), "y has the shape of x")?;
    let of_column = "it has an element for each column of x";
    same_shape(op, "weight", weight.shape(), [columns], of_column)?;
    bias.map_or(Ok(()), |bias| same_shape(op, "bias", bias.shape(), [columns], of_column))?;
    if let Some((residual, sum)) = &residual {
        same_shape(op, "residual", residual.shape(), x.shape(), "the residual has the shape of x")?;
        same_shape(op, "sum", sum.shape(), x.shape(), "the sum has the shape of x")?;
    }
    let of_row = "it has an element for each row of x";
    scales.as_ref().map_or(Ok(()), |scales| extent(op, "scales", 0, [scales.shape()[0], rows], of_row))?;
    means.as_ref().map_or(Ok(()), |means| extent(op, "means", 0, [means.shape()[0], rows], of_row))?;
    if means.is_some() && !with_mean {
        let (found, expected, fix) = ("an output of means".to_string(), "one of scales", "leave `means` out");
        return Err(crate::Error::Unsupported { op, found, expected, fix });
    }
    value(op, "epsilon", epsilon, epsilon >= 0.0, "0 or more", "it keeps a root from 0")?;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let device = stream.device();
    let weight = weight.split(0, [1, columns])?;
    let bias = bias.map_or_else(|| Ok(View::none(device)), |bias| bias.split(0, [1, columns]))?;
    let means = means.unwrap_or_else(|| ViewMut::none(device));
    let scales = scales.unwrap_or_else(|| ViewMut::none(device));
    macro_rules! launch {
        ($tuned:expr) => {{
            let tuned = choose(op, $tuned, instance, stream, |of| of.LOOP || of.N as usize >= columns)?;
            Ok(tuned.launch(stream, |of| rows.div_ceil(of.R as usize))?)
        }};
    }
    match (with_mean, residual) {
        (true, Some((r, sum))) => {
            launch!(norm_sum_kernel_tuned::<T, true>(x, r, weight, bias, y, sum, means, scales, epsilon))
        }
        (false, Some((r, sum))) => {
            launch!(norm_sum_kernel_tuned::<T, false>(x, r, weight, bias, y, sum, means, scales, epsilon))
        }
        (true, None) => launch!(norm_kernel_tuned::<T, true>(x, weight, bias, y, means, scales, epsilon)),
        (false, None) => launch!(norm_kernel_tuned::<T, false>(x, weight, bias, y, means, scales, epsilon)),
    }
}
