//! Gradients of layer norm and RMS norm.

use super::parameter::Parameter;
use crate::Result;
use crate::element::{FloatElement, SumOf, operation};
use crate::error::{extent, same_shape};
use crate::lent::scratch;
use crate::pool::choose;
use triton::prelude::*;

/// The gradient for x of a tile of rows, from the normalised elements, the gradients times weights, and the scale of each row.
#[triton::function]
fn row_gradient<const MEAN: bool>(normal: Tile<f32>, g: Tile<f32>, scale: Tile<f32>, share: f32) -> Tile<f32> {
    if MEAN {
        // One exchange between threads for both sums.
        let (along, mean) = reduce_axis((g * normal, g), 1, |(a, b), (c, d)| (a + c, b + d));
        (g - fma(normal, along.expand_dims(1) * share, mean.expand_dims(1) * share)) * scale
    } else {
        (g - normal * (sum_axis(g * normal, 1).expand_dims(1) * share)) * scale
    }
}

/// dx, and parts of the gradients of weight and bias: program p has rows p · R, (p + P) · R and so on, and adds theirs.
#[triton::kernel(MEAN = [false, true], configs = [
    (T = f32, R = 2, N = 1024, num_warps = 8), (T = f32, R = 1, N = 4096, num_warps = 16),
    (T = f16, R = 4, N = 1024, num_warps = 8), (T = f16, R = 2, N = 4096, num_warps = 16),
    (T = f16, R = 1, N = 8192, num_warps = 16),
    (T = bf16, R = 4, N = 1024, num_warps = 8), (T = bf16, R = 2, N = 4096, num_warps = 16),
    (T = bf16, R = 1, N = 8192, num_warps = 16),
], targets = ["sm_80"], tune = [R, N])]
fn norm_backward_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    means: Tensor<f32, 1>,
    scales: Tensor<f32, 1>,
    past: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
    parts: TensorMut<f32, 3>,
    adds: bool,
) {
    let (rows, share) = (x.dim(0).to::<i32>(), 1.0 / (x.dim(1) as f32));
    let w = weight.load([0, 0], [1, N]);
    let (mut dw, mut db) = (zeros::<f32>([N]), zeros::<f32>([N]));
    let first = program_id(0) * R;
    // The next rows are loaded while these are computed.
    let (mut next_x, mut next_dy) = (x.load([first, 0], [R, N]), dy.load([first, 0], [R, N]));
    let (mut next_scale, mut next_mean) = (scales.load([first], [R]), means.load([first], [R]));
    let step = num_programs(0) * R;
    for row in (first..rows).step_by(step) {
        let (v, g) = (next_x, next_dy);
        next_x = x.load([row + step, 0], [R, N]);
        next_dy = dy.load([row + step, 0], [R, N]);
        let (scale, mean) = (next_scale.expand_dims(1), next_mean.expand_dims(1));
        next_scale = scales.load([row + step], [R]);
        if MEAN {
            next_mean = means.load([row + step], [R]);
        }
        let (v, g) = (v.to::<f32>(), g.to::<f32>());
        let normal = if MEAN { (v - mean) * scale } else { v * scale };
        // Where a row or a column does not exist, its gradient is 0.
        dw += sum_axis(g * normal, 0);
        if MEAN {
            db += sum_axis(g, 0);
        }
        let mut out = row_gradient::<MEAN>(normal, g * w.to::<f32>(), scale, share);
        if adds {
            out += past.load([row, 0], [R, N]).to::<f32>();
        }
        dx.store([row, 0], out.to::<T>());
    }
    parts.store([0, program_id(0), 0], dw.reshape([1, 1, N]));
    if MEAN {
        parts.store([1, program_id(0), 0], db.reshape([1, 1, N]));
    }
}

/// dx alone, of rows of at most N columns, or, in a LOOP, of any number.
#[triton::kernel(T = [f32, f16, bf16], MEAN = [false, true], configs = [
    (R = 1, N = 1024, LOOP = false, num_warps = 4, targets = ["sm_80"]),
    (R = 1, N = 8192, LOOP = false, num_warps = 8, targets = ["sm_80"]),
    (R = 1, N = 65536, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 2048, LOOP = true, num_warps = 8, targets = ["sm_80"], general = true),
], tune = [R, N, LOOP])]
fn norm_dx_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32, const LOOP: bool>(
    x: Tensor<T, 2>,
    weight: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    means: Tensor<f32, 1>,
    scales: Tensor<f32, 1>,
    past: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
) {
    let row = program_id(0) * R;
    let (n, share) = (x.dim(1).to::<i32>(), 1.0 / (x.dim(1) as f32));
    let (mean, scale) = (means.load([row], [R]).expand_dims(1), scales.load([row], [R]).expand_dims(1));
    if LOOP {
        let (mut along, mut total) = (zeros::<f32>([R, N]), zeros::<f32>([R, N]));
        for j in (0..n).step_by(N) {
            let g = dy.load([row, j], [R, N]).to::<f32>() * weight.load([0, j], [1, N]).to::<f32>();
            along += g * (x.load([row, j], [R, N]).to::<f32>() - mean);
            total += g;
        }
        let along = sum_axis(along * scale, 1).expand_dims(1) * share;
        let total = if MEAN { sum_axis(total, 1).expand_dims(1) * share } else { zeros::<f32>([R, 1]) };
        for j in (0..n).step_by(N) {
            let g = dy.load([row, j], [R, N]).to::<f32>() * weight.load([0, j], [1, N]).to::<f32>();
            let normal = (x.load([row, j], [R, N]).to::<f32>() - mean) * scale;
            let out = fma(g - fma(normal, along, total), scale, past.load([row, j], [R, N]).to::<f32>());
            dx.store([row, j], out.to::<T>());
        }
    } else {
        let v = x.load([row, 0], [R, N]).to::<f32>();
        let normal = if MEAN { (v - mean) * scale } else { v * scale };
        let g = dy.load([row, 0], [R, N]).to::<f32>() * weight.load([0, 0], [1, N]).to::<f32>();
        dx.store([row, 0], row_gradient::<MEAN>(normal, g, scale, share).to::<T>());
    }
}

/// Parts of the gradients of weight and bias alone: program (j, s) adds `rows` rows of 64 columns.
#[triton::kernel(T = [f32, f16, bf16], MEAN = [false, true], targets = ["sm_80"], num_warps = 8)]
fn norm_parameters_kernel<T: Float, const MEAN: bool>(
    x: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    means: Tensor<f32, 1>,
    scales: Tensor<f32, 1>,
    parts: TensorMut<f32, 3>,
    rows: i32,
) {
    let (j, s) = (program_id(0) * 64, program_id(1));
    let (mut dw, mut db) = (zeros::<f32>([64, 64]), zeros::<f32>([64, 64]));
    for i in (0..rows).step_by(64) {
        let row = s * rows + i;
        let (v, g) = (x.load([row, j], [64, 64]).to::<f32>(), dy.load([row, j], [64, 64]).to::<f32>());
        let mean = if MEAN { means.load([row], [64]).expand_dims(1) } else { zeros::<f32>([64, 1]) };
        dw += g * ((v - mean) * scales.load([row], [64]).expand_dims(1));
        if MEAN {
            db += g;
        }
    }
    parts.store([0, s, j], sum_axis(dw, 0).reshape([1, 1, 64]));
    if MEAN {
        parts.store([1, s, j], sum_axis(db, 0).reshape([1, 1, 64]));
    }
}

/// The sums of parts, which are 0 afterwards: program (j, i) adds those of gradient i.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn norm_finish_kernel<T: Float>(
    parts: TensorMut<f32, 3>,
    dw: TensorMut<T, 1>,
    db: TensorMut<T, 1>,
    single_dw: TensorMut<f32, 1>,
    single_db: TensorMut<f32, 1>,
) {
    let (j, i) = (program_id(0) * 32, program_id(1));
    let mut total = zeros::<f32>([1, 64, 32]);
    for s in (0..parts.dim(1).to::<i32>()).step_by(64) {
        total += parts.load([i, s, j], [1, 64, 32]);
        parts.store([i, s, j], zeros::<f32>([1, 64, 32]));
    }
    let total = sum_axis(total, 1).reshape([32]);
    if i == 0 {
        dw.store([j], total.to::<T>());
        single_dw.store([j], total);
    } else {
        db.store([j], total.to::<T>());
        single_db.store([j], total);
    }
}

/// Builder of the gradient of a layer norm or RMS norm, returned by [`layer_norm_backward`] and [`rms_norm_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct NormBackward<'a, T> {
    op: &'static str,
    x: View<'a, T, 2>,
    weight: View<'a, T, 1>,
    dy: View<'a, T, 2>,
    means: Option<View<'a, f32, 1>>,
    scales: View<'a, f32, 1>,
    dx: ViewMut<'a, T, 2>,
    past: Option<View<'a, T, 2>>,
    dw: Option<Parameter<'a, T>>,
    db: Option<Parameter<'a, T>>,
    instance: Option<&'a str>,
}

/// The gradient for x of [`layer_norm`](super::layer_norm), from the gradient dy for y: with n the normalised x and g = dy · weight,
/// dx = (g − mean of g − n · mean of g · n) · scale; and, by [`parameters`](NormBackward::parameters), those of weight and bias. x, dy and dx
/// are `[rows, columns]`, means and scales `[rows]`, as the forward operation has stored them.
///
/// Gradients of parameters are added in an order that follows from the shapes and the GPU: they are the same each time. Up to 8192
/// columns x and dy are read once for all gradients; that takes two launches, the second of which adds the partial sums of the first.
///
/// A NaN or an infinity reaches its row of dx, and its column of the gradients of weight and bias.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::{layer_norm, layer_norm_backward};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0, 10.0, 30.0], [2, 2])?;
/// let (one, zero) = (stream.tensor(&[1.0f32, 1.0], [2])?, stream.tensor_zeros::<f32, _>([2])?);
/// let (mut y, mut means, mut scales) = (stream.tensor_uninit::<f32, _>([2, 2])?, stream.tensor_uninit::<f32, _>([2])?, stream.uninit::<f32>(2)?);
/// layer_norm(&x, &one, &zero, &mut y)
///     .means(&mut means)
///     .scales(scales.view_mut([2])?)
///     .launch(&stream)?;
///
/// let dy = stream.tensor(&[1.0f32, 0.0, 1.0, 0.5], [2, 2])?;
/// let (mut dx, mut dw, mut db) = (stream.uninit::<f32>(4)?, stream.tensor_uninit::<f32, _>([2])?, stream.tensor_uninit::<f32, _>([2])?);
/// let (mean, scale) = (&means, scales.view([2])?);
/// layer_norm_backward(&x, &one, &dy, mean, scale, dx.view_mut([2, 2])?)
///     .parameters(&mut dw, &mut db)
///     .launch(&stream)?;
/// assert_eq!(stream.download(&db)?, [2.0, 0.5]);
/// // Two elements are −1 and 1 whatever they are.
/// assert!(stream.download(&dx)?.iter().all(|dx| dx.abs() < 1e-4));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn layer_norm_backward<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 2>,
    weight: impl IntoView<'a, T, 1>,
    dy: impl IntoView<'a, T, 2>,
    means: impl IntoView<'a, f32, 1>,
    scales: impl IntoView<'a, f32, 1>,
    dx: impl IntoViewMut<'a, T, 2>,
) -> NormBackward<'a, T> {
    let (x, weight, dy, means, scales, dx) =
        (x.into_view(), weight.into_view(), dy.into_view(), means.into_view(), scales.into_view(), dx.into_view_mut());
    let (op, means) = ("layer_norm_backward", Some(means));
    NormBackward { op, x, weight, dy, means, scales, dx, past: None, dw: None, db: None, instance: None }
}

/// The input gradient dx of [`rms_norm`](super::rms_norm), from dy: dx = (g − n · mean of g · n) · scale, where n is the normalised x and
/// g = dy · weight. [`weight`](NormBackward::weight) adds the gradient of the weight. Otherwise as [`layer_norm_backward`].
///
/// A NaN or an infinity reaches its row of dx, and its column of the gradient of the weight.
pub fn rms_norm_backward<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 2>,
    weight: impl IntoView<'a, T, 1>,
    dy: impl IntoView<'a, T, 2>,
    scales: impl IntoView<'a, f32, 1>,
    dx: impl IntoViewMut<'a, T, 2>,
) -> NormBackward<'a, T> {
    let op = "rms_norm_backward";
    NormBackward {
        op,
        x: x.into_view(),
        weight: weight.into_view(),
        dy: dy.into_view(),
        means: None,
        scales: scales.into_view(),
        dx: dx.into_view_mut(),
        past: None,
        dw: None,
        db: None,
        instance: None,
    }
}

impl<'a, T: FloatElement> NormBackward<'a, T> {
    /// Computes the gradient of the weight, too: Σ dy · n over rows, `[columns]`, of `T` or of `f32`.
    pub fn weight<U: SumOf<T>>(self, dw: impl IntoViewMut<'a, U, 1>) -> NormBackward<'a, T> {
        NormBackward { dw: Some(Parameter::new(dw.into_view_mut())), ..self }
    }

    /// Computes the gradients of weight and bias, too: Σ dy · n and Σ dy over rows, `[columns]`, of `T` or of `f32`. An RMS norm has no bias.
    pub fn parameters<U: SumOf<T>>(
        self,
        dw: impl IntoViewMut<'a, U, 1>,
        db: impl IntoViewMut<'a, U, 1>,
    ) -> NormBackward<'a, T> {
        NormBackward { db: Some(Parameter::new(db.into_view_mut())), ..self.weight(dw.into_view_mut()) }
    }

    /// Adds a gradient to dx: with a [`residual`](super::Norm::residual), of the sum, which x and the residual share. It has the shape of x.
    pub fn residual(self, dsum: impl IntoView<'a, T, 2>) -> NormBackward<'a, T> {
        NormBackward { past: Some(dsum.into_view()), ..self }
    }

    /// Runs the instance of this name for dx, instead of the first that fits.
    pub fn instance(self, name: &'a str) -> NormBackward<'a, T> {
        NormBackward { instance: Some(name), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Unsupported`](crate::Error::Unsupported) for the bias of an RMS norm,
    /// [`Error::Instance`](crate::Error::Instance); errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Backward>(self, stream)
    }
}

operation!(Backward: NormBackward by backward);

/// Rows of a strip are multiples of this, and there are at most as many strips.
const LANES: usize = 64;

fn backward<T: FloatElement>(of: NormBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: NormBackwardKernelPool<T, true>
        + NormBackwardKernelPool<T, false>
        + NormDxKernelPool<T, true>
        + NormDxKernelPool<T, false>
        + NormParametersKernelInstance<T, true>
        + NormParametersKernelInstance<T, false>
        + NormFinishKernelInstance<T>,
{
    let NormBackward { op, x, weight, dy, means, scales, dx, past, dw, db, instance } = of;
    let [rows, columns] = x.shape();
    for (operand, shape) in [("dy", dy.shape()), ("dx", dx.shape())] {
        same_shape(op, operand, shape, x.shape(), "gradients have the shape of x")?;
    }
    past.map_or(Ok(()), |past| same_shape(op, "dsum", past.shape(), x.shape(), "gradients have the shape of x"))?;
    let of_column = "it has an element for each column of x";
    extent(op, "weight", 0, [weight.shape()[0], columns], of_column)?;
    dw.as_ref().map_or(Ok(()), |dw| extent(op, "dw", 0, [dw.found, columns], of_column))?;
    db.as_ref().map_or(Ok(()), |db| extent(op, "db", 0, [db.found, columns], of_column))?;
    let of_row = "it has an element for each row of x";
    extent(op, "scales", 0, [scales.shape()[0], rows], of_row)?;
    means.map_or(Ok(()), |means| extent(op, "means", 0, [means.shape()[0], rows], of_row))?;
    if means.is_none() && db.is_some() {
        let (found, expected, fix) = ("a gradient of the bias".to_string(), "one of the weight", "call `weight`");
        return Err(crate::Error::Unsupported { op, found, expected, fix });
    }
    if columns == 0 {
        return Ok(());
    }
    let device = stream.device();
    let (with_mean, adds) = (means.is_some(), past.is_some());
    let (weight, means) = (weight.split(0, [1, columns])?, means.unwrap_or_else(|| View::none(device)));
    let past = past.unwrap_or_else(|| View::none(device));
    let Some(dw) = dw else {
        return rows_alone::<T>(op, [x, dy, past], weight, means, scales, dx, with_mean, instance, stream);
    };
    let db = db.unwrap_or_else(|| Parameter::none(device));
    let kept = norm_backward_kernel_pool::<T, true>().members().iter().any(|of| of.choice().N as usize >= columns);
    let strips = if kept {
        // One or two programs of each multiprocessor at a time.
        let programs = device.multiprocessors().clamp(1, 256) as usize;
        rows.clamp(1, if columns > 1024 { programs } else { 2 * programs })
    } else {
        LANES.min(rows.div_ceil(LANES)).max(1)
    };
    let gradients = 1 + usize::from(with_mean);
    let mut parts = scratch::<f32>(op, stream, gradients * strips * columns)?;
    let shape = [gradients, strips, columns];
    if kept {
        let parts = parts.view_mut(shape)?;
        macro_rules! launch {
            ($mean:literal) => {{
                let tuned = norm_backward_kernel_tuned::<T, $mean>(x, weight, dy, means, scales, past, dx, parts, adds);
                let tuned = choose(op, tuned, instance, stream, |of| of.N as usize >= columns)?;
                // Parts of programs that there are none of stay 0.
                tuned.launch(stream, |of| rows.div_ceil(of.R as usize).min(strips))?;
            }};
        }
        if rows > 0 && with_mean {
            launch!(true);
        } else if rows > 0 {
            launch!(false);
        }
    } else {
        rows_alone::<T>(op, [x, dy, past], weight, means, scales, dx, with_mean, instance, stream)?;
        let each = rows.div_ceil(strips).next_multiple_of(LANES);
        let (grid, parts) = ((columns.div_ceil(64), strips), parts.view_mut(shape)?);
        let each = i32::try_from(each).unwrap_or(i32::MAX);
        if rows > 0 && with_mean {
            norm_parameters_kernel::<T, true>(x, dy, means, scales, parts, each).launch(stream, grid)?;
        } else if rows > 0 {
            norm_parameters_kernel::<T, false>(x, dy, means, scales, parts, each).launch(stream, grid)?;
        }
    }
    let finish = norm_finish_kernel::<T>(parts.view_mut(shape)?, dw.out, db.out, dw.single, db.single);
    Ok(finish.launch(stream, (columns.div_ceil(32), gradients))?)
}

/// dx alone.
#[expect(clippy::too_many_arguments, reason = "they are those of the kernel")]
fn rows_alone<T: FloatElement>(
    op: &'static str,
    [x, dy, past]: [View<'_, T, 2>; 3],
    weight: View<'_, T, 2>,
    means: View<'_, f32, 1>,
    scales: View<'_, f32, 1>,
    dx: ViewMut<'_, T, 2>,
    with_mean: bool,
    instance: Option<&str>,
    stream: &Stream,
) -> Result<()>
where
    triton::Compiled: NormDxKernelPool<T, true> + NormDxKernelPool<T, false>,
{
    let ([rows, columns], adds) = (x.shape(), past.shape() == x.shape());
    if rows == 0 {
        return Ok(());
    }
    macro_rules! launch {
        ($mean:literal) => {{
            let tuned = norm_dx_kernel_tuned::<T, $mean>(x, weight, dy, means, scales, past, dx);
            let fits = |of: &NormDxKernelChoice| of.LOOP || (!adds && of.N as usize >= columns);
            Ok(choose(op, tuned, instance, stream, fits)?.launch(stream, |of| rows.div_ceil(of.R as usize))?)
        }};
    }
    if with_mean { launch!(true) } else { launch!(false) }
}
