//! Batch norm, in training and after it, and its gradients.

use super::parameter::Parameter;
use crate::Result;
use crate::element::{FloatElement, SumOf, operation};
use crate::error::{extent, same_shape, size, value};
use crate::grid::parts;
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

/// Builder of a batch norm, returned by [`batch_norm`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct BatchNorm<'a, T> {
    x: View<'a, T, 3>,
    weight: View<'a, T, 1>,
    bias: View<'a, T, 1>,
    y: ViewMut<'a, T, 3>,
    means: Option<ViewMut<'a, f32, 1>>,
    scales: Option<ViewMut<'a, f32, 1>>,
    running: Option<[ViewMut<'a, f32, 1>; 2]>,
    epsilon: f32,
    momentum: f32,
}

/// y = (x − mean) / √(variance + ε) · weight + bias of x `[samples, channels, places]`, where mean and variance are those of each channel
/// over all samples and places (Ioffe and Szegedy, "Batch normalization", 2015, algorithm 1); weight and bias `[channels]`. Of rows, places
/// are 1; of images the last two axes are [merged](View::merge). It is computed in `f32`, in an order that follows from the shapes: the
/// result is the same each time. A program has a channel, so that few channels leave a large GPU idle.
///
/// A NaN or an infinity reaches its channel alone, and the running statistics of that channel.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::batch_norm;
///
/// let stream = Device::cpu().stream()?;
/// // Two samples of two channels.
/// let x = stream.tensor(&[1.0f32, 10.0, 3.0, 30.0], [2, 2, 1])?;
/// let (weight, bias) = (stream.tensor(&[1.0f32; 2], [2])?, stream.tensor_zeros::<f32, _>([2])?);
/// let (mut mean, mut variance) = (stream.tensor_zeros::<f32, _>([2])?, stream.upload(&[1.0f32; 2])?);
/// let mut y = stream.tensor_uninit::<f32, _>([2, 2, 1])?;
/// batch_norm(&x, &weight, &bias, &mut y)
///     .epsilon(0.0)
///     .running(&mut mean, variance.view_mut([2])?, 0.5)
///     .launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, -1.0, 1.0, 1.0]);
/// assert_eq!((stream.download(&mean)?, stream.download(&variance)?), (vec![1.0, 10.0], vec![1.5, 100.5]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn batch_norm<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 3>,
    weight: impl IntoView<'a, T, 1>,
    bias: impl IntoView<'a, T, 1>,
    y: impl IntoViewMut<'a, T, 3>,
) -> BatchNorm<'a, T> {
    let (epsilon, momentum) = (1e-5, 0.0);
    BatchNorm {
        x: x.into_view(),
        weight: weight.into_view(),
        bias: bias.into_view(),
        y: y.into_view_mut(),
        means: None,
        scales: None,
        running: None,
        epsilon,
        momentum,
    }
}

impl<'a, T: FloatElement> BatchNorm<'a, T> {
    /// ε, which is added to the variance. Default: 10⁻⁵.
    pub fn epsilon(self, epsilon: f32) -> BatchNorm<'a, T> {
        BatchNorm { epsilon, ..self }
    }

    /// Stores the mean and 1 / √(variance + ε) of each channel, `[channels]`, which the gradient needs.
    pub fn statistics(
        self,
        means: impl IntoViewMut<'a, f32, 1>,
        scales: impl IntoViewMut<'a, f32, 1>,
    ) -> BatchNorm<'a, T> {
        BatchNorm { means: Some(means.into_view_mut()), scales: Some(scales.into_view_mut()), ..self }
    }

    /// Moves running means and variances, `[channels]`, towards those of this batch: by the share `momentum` of the difference. The variance
    /// is that of n − 1, as in PyTorch.
    pub fn running(
        self,
        mean: impl IntoViewMut<'a, f32, 1>,
        variance: impl IntoViewMut<'a, f32, 1>,
        momentum: f32,
    ) -> BatchNorm<'a, T> {
        BatchNorm { running: Some([mean.into_view_mut(), variance.into_view_mut()]), momentum, ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) if ε is negative, or the momentum is not from 0 to 1;
    /// errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: BatchNorm by forward);

const OF_CHANNEL: &str = "it has an element for each channel of x";

/// The order of axes that a kernel sees: the longer one of samples and places last, of which a program has more at a time.
fn order([samples, _, places]: [usize; 3]) -> [usize; 3] {
    if samples > places { [2, 1, 0] } else { [0, 1, 2] }
}

fn forward<T: FloatElement>(of: BatchNorm<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: BatchNormKernelInstance<T>,
{
    let (op, BatchNorm { x, weight, bias, y, means, scales, running, epsilon, momentum }) = ("batch_norm", of);
    let [_, channels, _] = x.shape();
    same_shape(op, "y", y.shape(), x.shape(), "y has the shape of x")?;
    extent(op, "weight", 0, [weight.shape()[0], channels], OF_CHANNEL)?;
    extent(op, "bias", 0, [bias.shape()[0], channels], OF_CHANNEL)?;
    for (operand, view) in [("means", &means), ("scales", &scales)] {
        view.as_ref().map_or(Ok(()), |view| extent(op, operand, 0, [view.shape()[0], channels], OF_CHANNEL))?;
    }
    if let Some([mean, variance]) = &running {
        extent(op, "running mean", 0, [mean.shape()[0], channels], OF_CHANNEL)?;
        extent(op, "running variance", 0, [variance.shape()[0], channels], OF_CHANNEL)?;
    }
    value(op, "epsilon", epsilon, epsilon >= 0.0, "0 or more", "it keeps a root from 0")?;
    let fix = "it is the share of this batch";
    value(op, "momentum", momentum, (0.0..=1.0).contains(&momentum), "a number from 0 to 1", fix)?;
    if x.shape().contains(&0) {
        return Ok(());
    }
    let order = order(x.shape());
    let (x, y) = (x.permute(order)?, y.permute(order)?);
    let none = || ViewMut::none(stream.device());
    let (means, scales) = (means.unwrap_or_else(none), scales.unwrap_or_else(none));
    let [mean, variance] = running.unwrap_or_else(|| [none(), none()]);
    let launch = batch_norm_kernel::<T>(x, weight, bias, y, means, scales, mean, variance, epsilon, momentum);
    Ok(launch.launch(stream, channels)?)
}

/// Builder of a batch norm with running statistics, returned by [`batch_norm_eval`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct BatchNormEval<'a, T> {
    x: View<'a, T, 3>,
    weight: View<'a, T, 1>,
    bias: View<'a, T, 1>,
    mean: View<'a, f32, 1>,
    variance: View<'a, f32, 1>,
    y: ViewMut<'a, T, 3>,
    epsilon: f32,
}

/// [`batch_norm`] after training: with running means and variances `[channels]` in place of those of x.
///
/// A NaN or an infinity reaches its element alone.
pub fn batch_norm_eval<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 3>,
    weight: impl IntoView<'a, T, 1>,
    bias: impl IntoView<'a, T, 1>,
    mean: impl IntoView<'a, f32, 1>,
    variance: impl IntoView<'a, f32, 1>,
    y: impl IntoViewMut<'a, T, 3>,
) -> BatchNormEval<'a, T> {
    BatchNormEval {
        x: x.into_view(),
        weight: weight.into_view(),
        bias: bias.into_view(),
        mean: mean.into_view(),
        variance: variance.into_view(),
        y: y.into_view_mut(),
        epsilon: 1e-5,
    }
}

impl<'a, T: FloatElement> BatchNormEval<'a, T> {
    /// ε, which is added to the variance. Default: 10⁻⁵.
    pub fn epsilon(self, epsilon: f32) -> BatchNormEval<'a, T> {
        BatchNormEval { epsilon, ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) if ε is negative; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Eval>(self, stream)
    }
}

operation!(Eval: BatchNormEval by eval);

fn eval<T: FloatElement>(of: BatchNormEval<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: BatchNormEvalKernelInstance<T>,
{
    let (op, BatchNormEval { x, weight, bias, mean, variance, y, epsilon }) = ("batch_norm_eval", of);
    let [samples, channels, places] = x.shape();
    size(op, "x", &x.shape())?;
    same_shape(op, "y", y.shape(), x.shape(), "y has the shape of x")?;
    let parameters = [("weight", weight.shape()), ("bias", bias.shape())];
    let running = [("mean", mean.shape()), ("variance", variance.shape())];
    for (operand, [found]) in parameters.into_iter().chain(running) {
        extent(op, operand, 0, [found, channels], OF_CHANNEL)?;
    }
    value(op, "epsilon", epsilon, epsilon >= 0.0, "0 or more", "it keeps a root from 0")?;
    if samples == 0 || channels == 0 || places == 0 {
        return Ok(());
    }
    let order = order(x.shape());
    let (x, mut y) = (x.permute(order)?, y.permute(order)?);
    let across = samples.min(places).div_ceil(4);
    for of in parts(channels, 1) {
        let (x, y) = (x.narrow(1, of.clone())?, y.reborrow().narrow(1, of.clone())?);
        let (weight, bias) = (weight.narrow(0, of.clone())?, bias.narrow(0, of.clone())?);
        let (mean, variance) = (mean.narrow(0, of.clone())?, variance.narrow(0, of.clone())?);
        let launch = batch_norm_eval_kernel::<T>(x, weight, bias, mean, variance, y, epsilon);
        launch.launch(stream, (across, of.len()))?;
    }
    Ok(())
}

/// Builder of the gradients of a batch norm, returned by [`batch_norm_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct BatchNormBackward<'a, T> {
    x: View<'a, T, 3>,
    weight: View<'a, T, 1>,
    dy: View<'a, T, 3>,
    means: View<'a, f32, 1>,
    scales: View<'a, f32, 1>,
    dx: ViewMut<'a, T, 3>,
    parameters: Option<[Parameter<'a, T>; 2]>,
}

/// The gradient for x of [`batch_norm`], from the gradient dy for y, and, by [`parameters`](BatchNormBackward::parameters), those of weight
/// and bias. x, dy and dx are `[samples, channels, places]`, means and scales `[channels]`, as the forward operation has stored them.
///
/// A NaN or an infinity reaches its channel alone.
pub fn batch_norm_backward<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 3>,
    weight: impl IntoView<'a, T, 1>,
    dy: impl IntoView<'a, T, 3>,
    means: impl IntoView<'a, f32, 1>,
    scales: impl IntoView<'a, f32, 1>,
    dx: impl IntoViewMut<'a, T, 3>,
) -> BatchNormBackward<'a, T> {
    BatchNormBackward {
        x: x.into_view(),
        weight: weight.into_view(),
        dy: dy.into_view(),
        means: means.into_view(),
        scales: scales.into_view(),
        dx: dx.into_view_mut(),
        parameters: None,
    }
}

impl<'a, T: FloatElement> BatchNormBackward<'a, T> {
    /// Computes the gradients of weight and bias, too, `[channels]`, of `T` or of `f32`.
    pub fn parameters<U: SumOf<T>>(
        self,
        dw: impl IntoViewMut<'a, U, 1>,
        db: impl IntoViewMut<'a, U, 1>,
    ) -> BatchNormBackward<'a, T> {
        BatchNormBackward {
            parameters: Some([Parameter::new(dw.into_view_mut()), Parameter::new(db.into_view_mut())]),
            ..self
        }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape); errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Backward>(self, stream)
    }
}

operation!(Backward: BatchNormBackward by backward);

fn backward<T: FloatElement>(of: BatchNormBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: BatchNormBackwardKernelInstance<T>,
{
    let (op, BatchNormBackward { x, weight, dy, means, scales, dx, parameters }) = ("batch_norm_backward", of);
    let [_, channels, _] = x.shape();
    for (operand, shape) in [("dy", dy.shape()), ("dx", dx.shape())] {
        same_shape(op, operand, shape, x.shape(), "gradients have the shape of x")?;
    }
    let statistics = [("weight", weight.shape()), ("means", means.shape()), ("scales", scales.shape())];
    for (operand, [found]) in statistics {
        extent(op, operand, 0, [found, channels], OF_CHANNEL)?;
    }
    if let Some([dw, db]) = &parameters {
        extent(op, "dw", 0, [dw.found, channels], OF_CHANNEL)?;
        extent(op, "db", 0, [db.found, channels], OF_CHANNEL)?;
    }
    if channels == 0 {
        return Ok(());
    }
    let order = order(x.shape());
    let (x, dy, dx) = (x.permute(order)?, dy.permute(order)?, dx.permute(order)?);
    let device = stream.device();
    let [dw, db] = parameters.unwrap_or_else(|| [Parameter::none(device), Parameter::none(device)]);
    let (outs, singles) = ((dw.out, db.out), (dw.single, db.single));
    let launch =
        batch_norm_backward_kernel::<T>(x, weight, dy, means, scales, dx, outs.0, outs.1, singles.0, singles.1);
    Ok(launch.launch(stream, channels)?)
}
