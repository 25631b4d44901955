//! Gradients of layer norm and RMS norm.

use crate::Result;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use crate::sums::Sums;
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
pub(super) fn norm_backward_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32>(
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
pub(super) fn norm_dx_kernel<T: Float, const MEAN: bool, const R: i32, const N: i32, const LOOP: bool>(
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
pub(super) fn norm_parameters_kernel<T: Float, const MEAN: bool>(
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

/// The sums of parts: program (j, i) adds those of gradient i. It follows a kernel that all memory waited for, so its programs are many, and short.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 4)]
pub(super) fn norm_finish_kernel<T: Float>(
    parts: Tensor<f32, 3>,
    dw: TensorMut<T, 1>,
    db: TensorMut<T, 1>,
    single_dw: TensorMut<f32, 1>,
    single_db: TensorMut<f32, 1>,
) {
    let (j, i) = (program_id(0) * 8, program_id(1));
    let mut total = zeros::<f32>([1, 128, 8]);
    for s in (0..parts.dim(1).to::<i32>()).step_by(128) {
        total += parts.load([i, s, j], [1, 128, 8]);
    }
    let total = sum_axis(total, 1).reshape([8]);
    if i == 0 {
        dw.store([j], total.to::<T>());
        single_dw.store([j], total);
    } else {
        db.store([j], total.to::<T>());
        single_db.store([j], total);
    }
}

/// The gradient for x of [`layer_norm`](super::layer_norm), from the gradient dy for y: with n the normalised x and g = dy · weight,
/// dx = (g − mean of g − n · mean of g · n) · rstd; and, by [`dw`](LayerNormBackward::dw) and [`db`](LayerNormBackward::db), those of weight and
/// bias. The mean and rstd are what the forward operation has stored by `statistics`.
///
/// Gradients of parameters are added in an order that follows from the shapes and the GPU: they are the same each time. Up to 8192
/// columns x and dy are read once for all gradients; that takes two launches, the second of which adds the partial sums of the first.
///
/// A NaN or an infinity reaches its row of dx, and its column of the gradients of weight and bias.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::{layer_norm, layer_norm_backward};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0, 10.0, 30.0], [2, 2])?;
/// let (one, zero) = (stream.tensor(&[1.0f32, 1.0], [2])?, stream.tensor_zeros::<f32, _>([2])?);
/// let (mut y, mut dx) = (stream.tensor_uninit::<f32, _>([2, 2])?, stream.tensor_uninit::<f32, _>([2, 2])?);
/// let (mut mean, mut rstd) = (stream.tensor_uninit::<f32, _>([2])?, stream.tensor_uninit::<f32, _>([2])?);
/// layer_norm(&x, &one, &zero, &mut y).statistics(&mut mean, &mut rstd).launch(&stream)?;
///
/// let dy = stream.tensor(&[1.0f32, 0.0, 1.0, 0.5], [2, 2])?;
/// let (mut dw, mut db) = (stream.tensor_uninit::<f32, _>([2])?, stream.tensor_uninit::<f32, _>([2])?);
/// layer_norm_backward(&x, &one, &dy, &mean, &rstd, &mut dx).dw(&mut dw).db(&mut db).launch(&stream)?;
/// assert_eq!(stream.download(&db)?, [2.0, 0.5]);
/// // Two elements are −1 and 1 whatever they are.
/// assert!(stream.download(&dx)?.iter().all(|dx| dx.abs() < 1e-4));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LayerNormBackward, tuned)]
pub fn layer_norm_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(..)] mean: View<f32, 1>,
    #[axes(..)] rstd: View<f32, 1>,
    #[axes(.., c)] dx: ViewMut<T, 2>,
    /// Computes the gradient of the weight, too: Σ dy · n over rows, of `T` or of `f32`.
    #[axes(c)]
    dw: Option<Sums<T>>,
    /// Computes the gradient of the bias, too: Σ dy over rows, of `T` or of `f32`.
    #[axes(c)]
    db: Option<Sums<T>>,
    /// Adds the gradient of the sum to dx: with a [`residual`](super::LayerNorm::residual) x and the residual share it.
    #[axes(.., c)]
    dsum: Option<View<T, 2>>,
) -> Result<()> {
    backward::<T, true>(call, x, weight, dy, call.view(Some(mean)), rstd, dx, dsum, [dw, db])
}

/// The gradient for x of [`rms_norm`](super::rms_norm), from dy: dx = (g − n · mean of g · n) · rstd, where n is the normalised x and
/// g = dy · weight. [`dw`](RmsNormBackward::dw) adds the gradient of the weight. Otherwise as [`layer_norm_backward`].
///
/// A NaN or an infinity reaches its row of dx, and its column of the gradient of the weight.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::rms_norm_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (x, weight) = (stream.tensor(&[3.0f32, 3.0], [1, 2])?, stream.tensor(&[1.0f32, 1.0], [2])?);
/// let (dy, rstd) = (stream.tensor(&[1.0f32, 2.0], [1, 2])?, stream.tensor(&[1.0f32 / 3.0], [1])?);
/// let (mut dx, mut dw) = (stream.tensor_uninit::<f32, _>([1, 2])?, stream.tensor_uninit::<f32, _>([2])?);
/// rms_norm_backward(&x, &weight, &dy, &rstd, &mut dx).dw(&mut dw).launch(&stream)?;
/// assert_eq!(stream.download(&dw)?, [1.0, 2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(RmsNormBackward, tuned)]
pub fn rms_norm_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(..)] rstd: View<f32, 1>,
    #[axes(.., c)] dx: ViewMut<T, 2>,
    /// Computes the gradient of the weight, too: Σ dy · n over rows, of `T` or of `f32`.
    #[axes(c)]
    dw: Option<Sums<T>>,
    /// Adds the gradient of the sum to dx: with a [`residual`](super::RmsNorm::residual) x and the residual share it.
    #[axes(.., c)]
    dsum: Option<View<T, 2>>,
) -> Result<()> {
    backward::<T, false>(call, x, weight, dy, call.view(None), rstd, dx, dsum, [dw, None])
}

/// Rows of a strip are multiples of this, and there are at most as many strips.
const LANES: usize = 64;

#[expect(clippy::too_many_arguments, reason = "they are the operands")]
pub(super) fn backward<'c, T: FloatElement, const MEAN: bool>(
    call: Call<'c>,
    x: View<'c, T, 2>,
    weight: View<'c, T, 1>,
    dy: View<'c, T, 2>,
    mean: View<'c, f32, 1>,
    rstd: View<'c, f32, 1>,
    dx: ViewMut<'c, T, 2>,
    dsum: Option<View<'c, T, 2>>,
    [dw, db]: [Option<Sums<'c, T>>; 2],
) -> Result<()>
where
    triton::Compiled: NormBackwardKernelPool<T, MEAN>
        + NormDxKernelPool<T, MEAN>
        + NormParametersKernelInstance<T, MEAN>
        + NormFinishKernelInstance<T>,
{
    let [rows, columns] = x.shape();
    if columns == 0 {
        return Ok(());
    }
    let (weight, adds, past) = (weight.split(0, [1, columns])?, dsum.is_some(), call.view(dsum));
    let dx_alone = |dx: ViewMut<'c, T, 2>| {
        if rows == 0 {
            return Ok(());
        }
        let kernel = norm_dx_kernel_tuned::<T, MEAN>(x, weight, dy, mean, rstd, past, dx);
        let fits = |of: &NormDxKernelChoice| of.LOOP || (!adds && of.N as usize >= columns);
        call.tuned(kernel, fits, |of| rows.div_ceil(of.R as usize))
    };
    if dw.is_none() && db.is_none() {
        return dx_alone(dx);
    }
    let device = call.stream.device();
    let [dw, db] = [dw, db].map(|sums| sums.unwrap_or_else(|| Sums::none(device)));
    let pool = norm_backward_kernel_pool::<T, MEAN>();
    // Rows that a program has at a time, if it can have whole rows.
    let kept = pool.members().iter().find(|of| of.choice().N as usize >= columns).map(|of| of.choice().R as usize);
    let strips = if let Some(each) = kept {
        // One or two programs of each multiprocessor at a time; of two, no more than take as many turns.
        let programs = device.multiprocessors().clamp(1, 256) as usize;
        let groups = rows.div_ceil(each);
        if columns > 1024 { programs.min(groups) } else { balanced(groups, 2 * programs) }
    } else {
        LANES.min(rows.div_ceil(LANES))
    };
    let shape = [1 + usize::from(MEAN), strips, columns];
    let mut parts = call.workspace::<f32>(shape.iter().product())?;
    if rows > 0 && kept.is_some() {
        let parts = parts.view_mut(shape)?;
        let kernel = norm_backward_kernel_tuned::<T, MEAN>(x, weight, dy, mean, rstd, past, dx, parts, adds);
        // Each program stores its part, those without rows, too.
        call.tuned(kernel, |of| of.N as usize >= columns, |_| strips)?;
    } else if rows > 0 {
        dx_alone(dx)?;
        let each = i32::try_from(rows.div_ceil(strips).next_multiple_of(LANES)).unwrap_or(i32::MAX);
        let kernel = norm_parameters_kernel::<T, MEAN>(x, dy, mean, rstd, parts.view_mut(shape)?, each);
        call.launch(kernel, (columns.div_ceil(64), strips))?;
    }
    let finish = norm_finish_kernel::<T>(parts.view(shape)?, dw.out, db.out, dw.single, db.single);
    call.launch(finish, (columns.div_ceil(8), shape[0]))
}

/// The fewest programs that take as many turns as `most` would.
fn balanced(groups: usize, most: usize) -> usize {
    groups.div_ceil(groups.div_ceil(most).max(1))
}
