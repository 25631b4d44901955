//! Batch norm, in training and after it, and its gradients.

use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, operation};
use crate::sums::Sums;
use triton::prelude::*;

/// A channel a program: its statistics, or those of before, and its elements normalised. Axes are samples, channels and places.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn batch_norm_kernel<T: Float>(
    x: Tensor<T, 3>,
    weight: Tensor<T, 1>,
    bias: Tensor<T, 1>,
    y: TensorMut<T, 3>,
    means: TensorMut<f32, 1>,
    scales: TensorMut<f32, 1>,
    running_mean: TensorMut<f32, 1>,
    running_variance: TensorMut<f32, 1>,
    epsilon: f32,
    momentum: f32,
) {
    let c = program_id(0);
    let (samples, places) = (x.dim(0).to::<i32>(), x.dim(2).to::<i32>());
    let count = x.dim(0) as f32 * x.dim(2) as f32;
    let mut total = zeros::<f32>([4, 1, 512]);
    for n in (0..samples).step_by(4) {
        for s in (0..places).step_by(512) {
            total += x.load([n, c, s], [4, 1, 512]).to::<f32>();
        }
    }
    let mean = sum(total) / count;
    let mut squares = zeros::<f32>([4, 1, 512]);
    for n in (0..samples).step_by(4) {
        for s in (0..places).step_by(512) {
            let centred = x.load([n, c, s], [4, 1, 512]).to::<f32>() - mean;
            let rows = (n + arange(0, 4) < samples).reshape([4, 1, 1]);
            let inside = rows & (s + arange(0, 512) < places).reshape([1, 1, 512]);
            squares += select(inside, centred * centred, 0.0);
        }
    }
    let squares = sum(squares);
    let scale = rsqrt(squares / count + epsilon);
    let (w, b) = (weight.get([c]).to::<f32>(), bias.get([c]).to::<f32>());
    for n in (0..samples).step_by(4) {
        for s in (0..places).step_by(512) {
            let normal = (x.load([n, c, s], [4, 1, 512]).to::<f32>() - mean) * scale;
            y.store([n, c, s], (normal * w + b).to::<T>());
        }
    }
    means.store([c], full([1], mean));
    scales.store([c], full([1], scale));
    let before = running_mean.load([c], [1]);
    running_mean.store([c], before + (mean - before) * momentum);
    let before = running_variance.load([c], [1]);
    let variance = squares / maximum(count - 1.0, 1.0);
    running_variance.store([c], before + (variance - before) * momentum);
}

/// The same with statistics of before; a program has 4 samples, and 512 places at a time, of a channel.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn batch_norm_eval_kernel<T: Float>(
    x: Tensor<T, 3>,
    weight: Tensor<T, 1>,
    bias: Tensor<T, 1>,
    mean: Tensor<f32, 1>,
    variance: Tensor<f32, 1>,
    y: TensorMut<T, 3>,
    epsilon: f32,
) {
    let (n, c) = (program_id(0) * 4, program_id(1));
    let scale = rsqrt(variance.get([c]) + epsilon) * weight.get([c]).to::<f32>();
    let (mean, b) = (mean.get([c]), bias.get([c]).to::<f32>());
    for s in (0..x.dim(2).to::<i32>()).step_by(512) {
        let v = x.load([n, c, s], [4, 1, 512]).to::<f32>();
        y.store([n, c, s], ((v - mean) * scale + b).to::<T>());
    }
}

/// All gradients of a channel a program.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn batch_norm_backward_kernel<T: Float>(
    x: Tensor<T, 3>,
    weight: Tensor<T, 1>,
    dy: Tensor<T, 3>,
    means: Tensor<f32, 1>,
    scales: Tensor<f32, 1>,
    dx: TensorMut<T, 3>,
    dw: TensorMut<T, 1>,
    db: TensorMut<T, 1>,
    single_dw: TensorMut<f32, 1>,
    single_db: TensorMut<f32, 1>,
) {
    let c = program_id(0);
    let (samples, places) = (x.dim(0).to::<i32>(), x.dim(2).to::<i32>());
    let share = 1.0 / (x.dim(0) as f32 * x.dim(2) as f32);
    let (mean, scale) = (means.get([c]), scales.get([c]));
    let (mut along, mut total) = (zeros::<f32>([4, 1, 512]), zeros::<f32>([4, 1, 512]));
    for n in (0..samples).step_by(4) {
        for s in (0..places).step_by(512) {
            let g = dy.load([n, c, s], [4, 1, 512]).to::<f32>();
            along += g * ((x.load([n, c, s], [4, 1, 512]).to::<f32>() - mean) * scale);
            total += g;
        }
    }
    let (along, total) = (sum(along), sum(total));
    let slope = scale * weight.get([c]).to::<f32>();
    for n in (0..samples).step_by(4) {
        for s in (0..places).step_by(512) {
            let g = dy.load([n, c, s], [4, 1, 512]).to::<f32>();
            let normal = (x.load([n, c, s], [4, 1, 512]).to::<f32>() - mean) * scale;
            dx.store([n, c, s], ((g - total * share - normal * (along * share)) * slope).to::<T>());
        }
    }
    let (along, total) = (full([1], along), full([1], total));
    dw.store([c], along.to::<T>());
    db.store([c], total.to::<T>());
    single_dw.store([c], along);
    single_db.store([c], total);
}

/// y = (x − mean) / √(variance + ε) · weight + bias, where mean and variance are those of each channel c over all samples and places (Ioffe and
/// Szegedy, "Batch normalization", 2015, algorithm 1), as `torch.nn.functional.batch_norm` in training. It is computed in `f32`, in an order that
/// follows from the shapes: the result is the same each time. A program has a channel, so that few channels leave a large GPU idle.
///
/// A NaN or an infinity reaches its channel alone, and the running statistics of that channel.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::batch_norm;
///
/// let stream = Device::cpu().stream()?;
/// // Two samples of two channels.
/// let x = stream.tensor(&[1.0f32, 10.0, 3.0, 30.0], [2, 2])?;
/// let (weight, bias) = (stream.tensor(&[1.0f32; 2], [2])?, stream.tensor_zeros::<f32, _>([2])?);
/// let (mut mean, mut variance) = (stream.tensor_zeros::<f32, _>([2])?, stream.tensor(&[1.0f32; 2], [2])?);
/// let mut y = stream.tensor_uninit::<f32, _>([2, 2])?;
/// batch_norm(&x, &weight, &bias, &mut y).epsilon(0.0).running(&mut mean, &mut variance, 0.5).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, -1.0, 1.0, 1.0]);
/// assert_eq!((stream.download(&mean)?, stream.download(&variance)?), (vec![1.0, 10.0], vec![1.5, 100.5]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(BatchNorm)]
pub fn batch_norm<T: FloatElement>(
    call: Call,
    #[axes(n, c, ..)] x: View<T, 3>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(c)] bias: View<T, 1>,
    #[axes(n, c, ..)] y: ViewMut<T, 3>,
    /// ε, which is added to the variance. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
    /// Stores the mean and 1 / √(variance + ε) of each channel, which the gradient needs.
    #[axes(c)]
    #[setter(statistics)]
    mean: Option<ViewMut<f32, 1>>,
    #[beside(mean)]
    #[axes(c)]
    rstd: Option<ViewMut<f32, 1>>,
    /// Moves running means and variances towards those of this batch: by the share `momentum` of the difference. The variance is that of n − 1, as
    /// in PyTorch.
    #[axes(c)]
    #[setter(running)]
    running_mean: Option<ViewMut<f32, 1>>,
    #[beside(running_mean)]
    #[axes(c)]
    running_variance: Option<ViewMut<f32, 1>>,
    #[beside(running_mean)]
    #[check((0.0..=1.0).contains(&momentum), "a number from 0 to 1", "it is the share of this batch")]
    momentum: Option<f32>,
) -> Result<()> {
    let [_, channels, _] = x.shape();
    if x.shape().contains(&0) {
        return Ok(());
    }
    let order = order(x.shape());
    let (x, y) = (x.permute(order)?, y.permute(order)?);
    let (mean, rstd) = (call.view_mut(mean), call.view_mut(rstd));
    let (of_mean, of_variance) = (call.view_mut(running_mean), call.view_mut(running_variance));
    let momentum = momentum.unwrap_or(0.0);
    let kernel = batch_norm_kernel::<T>(x, weight, bias, y, mean, rstd, of_mean, of_variance, epsilon, momentum);
    call.launch(kernel, channels)
}

/// The order of axes that a kernel sees: the longer one of samples and places last, of which a program has more at a time.
fn order([samples, _, places]: [usize; 3]) -> [usize; 3] {
    if samples > places { [2, 1, 0] } else { [0, 1, 2] }
}

/// [`batch_norm`] after training: with running means and variances in place of those of x.
///
/// A NaN or an infinity reaches its element alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::batch_norm_eval;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0], [2, 1])?;
/// let [weight, bias, mean, variance] = [2.0f32, 0.5, 1.0, 4.0].map(|v| stream.tensor(&[v], [1]));
/// let mut y = stream.tensor_uninit::<f32, _>([2, 1])?;
/// batch_norm_eval(&x, &weight?, &bias?, &mean?, &variance?, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.5, 2.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: training takes `batch_norm`.
#[operation(BatchNormEval)]
pub fn batch_norm_eval<T: FloatElement>(
    call: Call,
    #[axes(n, c, ..)] x: View<T, 3>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(c)] bias: View<T, 1>,
    #[axes(c)] mean: View<f32, 1>,
    #[axes(c)] variance: View<f32, 1>,
    #[axes(n, c, ..)] y: ViewMut<T, 3>,
    /// ε, which is added to the variance. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
) -> Result<()> {
    let [samples, channels, places] = x.shape();
    if x.shape().contains(&0) {
        return Ok(());
    }
    let order = order(x.shape());
    let (x, mut y) = (x.permute(order)?, y.permute(order)?);
    let across = samples.min(places).div_ceil(4);
    for of in parts(channels, 1) {
        let (x, y) = (x.narrow(1, of.clone())?, y.reborrow().narrow(1, of.clone())?);
        let (weight, bias) = (weight.narrow(0, of.clone())?, bias.narrow(0, of.clone())?);
        let (mean, variance) = (mean.narrow(0, of.clone())?, variance.narrow(0, of.clone())?);
        let kernel = batch_norm_eval_kernel::<T>(x, weight, bias, mean, variance, y, epsilon);
        call.launch(kernel, (across, of.len()))?;
    }
    Ok(())
}

/// The gradient for x of [`batch_norm`], from the gradient dy for y, and, by [`dw`](BatchNormBackward::dw) and [`db`](BatchNormBackward::db), those of
/// weight and bias. The mean and rstd are what the forward operation has stored by `statistics`.
///
/// A NaN or an infinity reaches its channel alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::batch_norm_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 3.0], [2, 1])?, stream.tensor(&[1.0f32, 4.0], [2, 1])?);
/// let [weight, mean, rstd] = [1.0f32, 2.0, 1.0].map(|v| stream.tensor(&[v], [1]));
/// let (mut dx, mut dw, mut db) = (stream.tensor_uninit::<f32, _>([2, 1])?, stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([1])?);
/// batch_norm_backward(&x, &weight?, &dy, &mean?, &rstd?, &mut dx).dw(&mut dw).db(&mut db).launch(&stream)?;
/// assert_eq!((stream.download(&dw)?, stream.download(&db)?), (vec![3.0], vec![5.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(BatchNormBackward)]
pub fn batch_norm_backward<T: FloatElement>(
    call: Call,
    #[axes(n, c, ..)] x: View<T, 3>,
    #[axes(c)] weight: View<T, 1>,
    #[axes(n, c, ..)] dy: View<T, 3>,
    #[axes(c)] mean: View<f32, 1>,
    #[axes(c)] rstd: View<f32, 1>,
    #[axes(n, c, ..)] dx: ViewMut<T, 3>,
    /// Computes the gradient of the weight, too, of `T` or of `f32`.
    #[axes(c)]
    dw: Option<Sums<T>>,
    /// Computes the gradient of the bias, too, of `T` or of `f32`.
    #[axes(c)]
    db: Option<Sums<T>>,
) -> Result<()> {
    let [_, channels, _] = x.shape();
    if channels == 0 {
        return Ok(());
    }
    let order = order(x.shape());
    let (x, dy, dx) = (x.permute(order)?, dy.permute(order)?, dx.permute(order)?);
    let [dw, db] = [dw, db].map(|sums| sums.unwrap_or_else(|| Sums::none(call.stream.device())));
    let kernel = batch_norm_backward_kernel::<T>(x, weight, dy, mean, rstd, dx, dw.out, db.out, dw.single, db.single);
    call.launch(kernel, channels)
}
