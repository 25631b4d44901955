//! Group norm, and its gradients.

use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, operation};
use crate::sums::Sums;
use std::ops::Range;
use triton::prelude::*;

/// A group of channels of a sample a program: its statistics, and its elements normalised. Axes are samples, groups, channels of a group
/// and places.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn group_norm_kernel<T: Float>(
    x: Tensor<T, 4>,
    weight: Tensor<T, 2>,
    bias: Tensor<T, 2>,
    y: TensorMut<T, 4>,
    means: TensorMut<f32, 2>,
    scales: TensorMut<f32, 2>,
    epsilon: f32,
) {
    let (n, g) = (program_id(0), program_id(1));
    let (channels, places) = (x.dim(2).to::<i32>(), x.dim(3).to::<i32>());
    let share = 1.0 / (x.dim(2) as f32 * x.dim(3) as f32);
    let mut total = zeros::<f32>([1, 1, 8, 256]);
    for c in (0..channels).step_by(8) {
        for s in (0..places).step_by(256) {
            total += x.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>();
        }
    }
    let mean = sum(total) * share;
    let mut squares = zeros::<f32>([1, 1, 8, 256]);
    for c in (0..channels).step_by(8) {
        for s in (0..places).step_by(256) {
            let centred = x.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>() - mean;
            let rows = (c + arange(0, 8) < channels).reshape([1, 1, 8, 1]);
            let inside = rows & (s + arange(0, 256) < places).reshape([1, 1, 1, 256]);
            squares += select(inside, centred * centred, 0.0);
        }
    }
    let scale = rsqrt(sum(squares) * share + epsilon);
    for c in (0..channels).step_by(8) {
        let w = weight.load([g, c], [1, 8]).to::<f32>().reshape([1, 1, 8, 1]);
        let b = bias.load([g, c], [1, 8]).to::<f32>().reshape([1, 1, 8, 1]);
        for s in (0..places).step_by(256) {
            let v = x.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>();
            y.store([n, g, c, s], fma((v - mean) * scale, w, b).to::<T>());
        }
    }
    means.store([n, g], full([1, 1], mean));
    scales.store([n, g], full([1, 1], scale));
}

/// The gradient for x of a group of channels of a sample a program.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn group_norm_dx_kernel<T: Float>(
    x: Tensor<T, 4>,
    weight: Tensor<T, 2>,
    dy: Tensor<T, 4>,
    means: Tensor<f32, 2>,
    scales: Tensor<f32, 2>,
    dx: TensorMut<T, 4>,
) {
    let (n, g) = (program_id(0), program_id(1));
    let (channels, places) = (x.dim(2).to::<i32>(), x.dim(3).to::<i32>());
    let share = 1.0 / (x.dim(2) as f32 * x.dim(3) as f32);
    let (mean, scale) = (means.get([n, g]), scales.get([n, g]));
    let (mut along, mut total) = (zeros::<f32>([1, 1, 8, 256]), zeros::<f32>([1, 1, 8, 256]));
    for c in (0..channels).step_by(8) {
        let w = weight.load([g, c], [1, 8]).to::<f32>().reshape([1, 1, 8, 1]);
        for s in (0..places).step_by(256) {
            // Behind the last place 0 times an infinite weight is not a term.
            let inside = (s + arange(0, 256) < places).reshape([1, 1, 1, 256]);
            let of = select(inside, dy.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>() * w, 0.0);
            along += of * ((x.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>() - mean) * scale);
            total += of;
        }
    }
    let (along, total) = (sum(along) * share, sum(total) * share);
    for c in (0..channels).step_by(8) {
        let w = weight.load([g, c], [1, 8]).to::<f32>().reshape([1, 1, 8, 1]);
        for s in (0..places).step_by(256) {
            let of = dy.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>() * w;
            let normal = (x.load([n, g, c, s], [1, 1, 8, 256]).to::<f32>() - mean) * scale;
            dx.store([n, g, c, s], ((of - total - normal * along) * scale).to::<T>());
        }
    }
}

/// The gradients of weight and bias of a channel a program.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn group_norm_parameters_kernel<T: Float>(
    x: Tensor<T, 3>,
    dy: Tensor<T, 3>,
    means: Tensor<f32, 2>,
    scales: Tensor<f32, 2>,
    dw: TensorMut<T, 1>,
    db: TensorMut<T, 1>,
    single_dw: TensorMut<f32, 1>,
    single_db: TensorMut<f32, 1>,
    #[no_specialize] channels: i32,
) {
    let c = program_id(0);
    let (samples, places) = (x.dim(0).to::<i32>(), x.dim(2).to::<i32>());
    let (mut along, mut total) = (zeros::<f32>([8, 1, 256]), zeros::<f32>([8, 1, 256]));
    for n in (0..samples).step_by(8) {
        let mean = means.load([n, c / channels], [8, 1]).reshape([8, 1, 1]);
        let scale = scales.load([n, c / channels], [8, 1]).reshape([8, 1, 1]);
        for s in (0..places).step_by(256) {
            let of = dy.load([n, c, s], [8, 1, 256]).to::<f32>();
            along += of * ((x.load([n, c, s], [8, 1, 256]).to::<f32>() - mean) * scale);
            total += of;
        }
    }
    let (along, total) = (full([1], sum(along)), full([1], sum(total)));
    dw.store([c], along.to::<T>());
    db.store([c], total.to::<T>());
    single_dw.store([c], along);
    single_db.store([c], total);
}

/// y = (x − mean) / √(variance + ε) · weight + bias, where mean and variance are those of each sample's groups of neighbouring channels (Wu and He,
/// "Group normalization", 2018, section 3.1), as `torch.nn.functional.group_norm`. It is computed in `f32`, in an order that follows from the
/// shapes: the result is the same each time.
///
/// A NaN or an infinity reaches its group alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::group_norm;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0, 10.0, 30.0], [1, 4, 1, 1])?;
/// let (weight, bias) = (stream.tensor(&[1.0f32; 4], [4])?, stream.tensor_zeros::<f32, _>([4])?);
/// let mut y = stream.tensor_uninit::<f32, _>([1, 4, 1, 1])?;
/// group_norm(&x, 2, &weight, &bias, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GroupNorm)]
pub fn group_norm<T: FloatElement>(
    call: Call,
    #[axes(n, c, ..)] x: View<T, 3>,
    groups: usize,
    #[axes(c)] weight: View<T, 1>,
    #[axes(c)] bias: View<T, 1>,
    #[axes(n, c, ..)] y: ViewMut<T, 3>,
    /// ε, which is added to the variance. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
    /// Stores the mean and 1 / √(variance + ε) of each group, which the gradient needs.
    #[axes(n, groups)]
    #[setter(statistics)]
    mean: Option<ViewMut<f32, 2>>,
    #[beside(mean)]
    #[axes(n, groups)]
    rstd: Option<ViewMut<f32, 2>>,
) -> Result<()> {
    let [samples, channels, _] = x.shape();
    let halves = [groups, channels_of(call, groups, channels)?];
    if x.shape().contains(&0) {
        return Ok(());
    }
    let (x, mut y) = (x.split(1, halves)?, y.split(1, halves)?);
    let (weight, bias) = (weight.split(0, halves)?, bias.split(0, halves)?);
    let (mut mean, mut rstd) = (mean, rstd);
    for of in parts(groups, 1) {
        let (mean, rstd) = (narrowed(&mut mean, &of, call.stream)?, narrowed(&mut rstd, &of, call.stream)?);
        let (x, y) = (x.narrow(1, of.clone())?, y.reborrow().narrow(1, of.clone())?);
        let (weight, bias) = (weight.narrow(0, of.clone())?, bias.narrow(0, of.clone())?);
        call.launch(group_norm_kernel::<T>(x, weight, bias, y, mean, rstd, epsilon), (samples, of.len()))?;
    }
    Ok(())
}

/// Checks the number of groups, and gives that of the channels of each.
fn channels_of(call: Call<'_>, groups: usize, channels: usize) -> Result<usize> {
    let divides = groups > 0 && channels.is_multiple_of(groups);
    call.value("groups", groups, divides, "a divisor of the number of channels", "every group has as many channels")?;
    Ok(channels / groups)
}

/// The statistics of some groups, if they are wanted.
fn narrowed<'a>(
    view: &'a mut Option<ViewMut<'_, f32, 2>>,
    of: &Range<usize>,
    stream: &'a Stream,
) -> triton::Result<ViewMut<'a, f32, 2>> {
    match view {
        Some(view) => view.reborrow().narrow(1, of.clone()),
        None => Ok(ViewMut::none(stream.device())),
    }
}

/// The gradient for x of [`group_norm`], from the gradient dy for y, and, by [`dw`](GroupNormBackward::dw) and [`db`](GroupNormBackward::db), those of
/// weight and bias. The mean and rstd are what the forward operation has stored by `statistics`.
///
/// A NaN or an infinity reaches its group of dx, and its channels of the gradients of weight and bias.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::group_norm_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 3.0], [1, 2])?, stream.tensor(&[1.0f32, 4.0], [1, 2])?);
/// let weight = stream.tensor(&[1.0f32; 2], [2])?;
/// let (mean, rstd) = (stream.tensor(&[2.0f32], [1, 1])?, stream.tensor(&[1.0f32], [1, 1])?);
/// let (mut dx, mut db) = (stream.tensor_uninit::<f32, _>([1, 2])?, stream.tensor_uninit::<f32, _>([2])?);
/// group_norm_backward(&x, 1, &weight, &dy, &mean, &rstd, &mut dx).db(&mut db).launch(&stream)?;
/// assert_eq!(stream.download(&db)?, [1.0, 4.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GroupNormBackward)]
pub fn group_norm_backward<T: FloatElement>(
    call: Call,
    #[axes(n, c, ..)] x: View<T, 3>,
    groups: usize,
    #[axes(c)] weight: View<T, 1>,
    #[axes(n, c, ..)] dy: View<T, 3>,
    #[axes(n, groups)] mean: View<f32, 2>,
    #[axes(n, groups)] rstd: View<f32, 2>,
    #[axes(n, c, ..)] dx: ViewMut<T, 3>,
    /// Computes the gradient of the weight, too, of `T` or of `f32`.
    #[axes(c)]
    dw: Option<Sums<T>>,
    /// Computes the gradient of the bias, too, of `T` or of `f32`.
    #[axes(c)]
    db: Option<Sums<T>>,
) -> Result<()> {
    let [samples, channels, places] = x.shape();
    let halves = [groups, channels_of(call, groups, channels)?];
    if channels == 0 {
        return Ok(());
    }
    if samples > 0 && places > 0 {
        let (of_x, of_dy, mut dx) = (x.split(1, halves)?, dy.split(1, halves)?, dx.split(1, halves)?);
        let weight = weight.split(0, halves)?;
        for of in parts(groups, 1) {
            let (of_x, of_dy) = (of_x.narrow(1, of.clone())?, of_dy.narrow(1, of.clone())?);
            let (mean, rstd) = (mean.narrow(1, of.clone())?, rstd.narrow(1, of.clone())?);
            let (weight, dx) = (weight.narrow(0, of.clone())?, dx.reborrow().narrow(1, of.clone())?);
            call.launch(group_norm_dx_kernel::<T>(of_x, weight, of_dy, mean, rstd, dx), (samples, of.len()))?;
        }
    }
    if dw.is_none() && db.is_none() {
        return Ok(());
    }
    let [dw, db] = [dw, db].map(|sums| sums.unwrap_or_else(|| Sums::none(call.stream.device())));
    let each = i32::try_from(halves[1]).unwrap_or(i32::MAX);
    let kernel = group_norm_parameters_kernel::<T>(x, dy, mean, rstd, dw.out, db.out, dw.single, db.single, each);
    call.launch(kernel, channels)
}
