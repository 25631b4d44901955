//! Group norm, and its gradients.

use super::parameter::Parameter;
use crate::Result;
use crate::element::{FloatElement, SumOf, operation};
use crate::error::{extent, same_shape, size, value};
use crate::grid::parts;
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

/// Builder of a group norm, returned by [`group_norm`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct GroupNorm<'a, T> {
    x: View<'a, T, 3>,
    groups: usize,
    weight: View<'a, T, 1>,
    bias: View<'a, T, 1>,
    y: ViewMut<'a, T, 3>,
    means: Option<ViewMut<'a, f32, 2>>,
    scales: Option<ViewMut<'a, f32, 2>>,
    epsilon: f32,
}

/// y = (x − mean) / √(variance + ε) · weight + bias of x `[samples, channels, places]`, where mean and variance are those of each sample's
/// groups of neighbouring channels (Wu and He, "Group normalization", 2018, section 3.1); weight and bias `[channels]`. Of images
/// `[samples, channels, height, width]` the last two axes are [merged](View::merge). It is computed in `f32`, in an order that follows from
/// the shapes: the result is the same each time.
///
/// A NaN or an infinity reaches its group alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::group_norm;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.upload(&[1.0f32, 3.0, 10.0, 30.0])?;
/// let (weight, bias) = (stream.tensor(&[1.0f32; 4], [4])?, stream.tensor_zeros::<f32, _>([4])?);
/// let mut y = stream.uninit::<f32>(4)?;
/// let shape = [1, 4, 1];
/// group_norm(x.view(shape)?, 2, &weight, &bias, y.view_mut(shape)?).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn group_norm<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 3>,
    groups: usize,
    weight: impl IntoView<'a, T, 1>,
    bias: impl IntoView<'a, T, 1>,
    y: impl IntoViewMut<'a, T, 3>,
) -> GroupNorm<'a, T> {
    GroupNorm {
        x: x.into_view(),
        groups,
        weight: weight.into_view(),
        bias: bias.into_view(),
        y: y.into_view_mut(),
        means: None,
        scales: None,
        epsilon: 1e-5,
    }
}

impl<'a, T: FloatElement> GroupNorm<'a, T> {
    /// ε, which is added to the variance. Default: 10⁻⁵.
    pub fn epsilon(self, epsilon: f32) -> GroupNorm<'a, T> {
        GroupNorm { epsilon, ..self }
    }

    /// Stores the mean and 1 / √(variance + ε) of each group, `[samples, groups]`, which the gradient needs.
    pub fn statistics(
        self,
        means: impl IntoViewMut<'a, f32, 2>,
        scales: impl IntoViewMut<'a, f32, 2>,
    ) -> GroupNorm<'a, T> {
        GroupNorm { means: Some(means.into_view_mut()), scales: Some(scales.into_view_mut()), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) if the groups do not divide the channels, or ε is
    /// negative; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: GroupNorm by forward);

const OF_CHANNEL: &str = "it has an element for each channel of x";
const OF_GROUP: &str = "it has an element for each sample and group";

/// Checks the number of groups, and gives that of the channels of each.
fn channels_of(op: &'static str, groups: usize, channels: usize) -> Result<usize> {
    let divides = groups > 0 && channels.is_multiple_of(groups);
    value(op, "groups", groups, divides, "a divisor of the number of channels", "every group has as many channels")?;
    Ok(channels.checked_div(groups).unwrap_or(0))
}

fn forward<T: FloatElement>(of: GroupNorm<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: GroupNormKernelInstance<T>,
{
    let (op, GroupNorm { x, groups, weight, bias, y, means, scales, epsilon }) = ("group_norm", of);
    let [samples, channels, places] = x.shape();
    size(op, "x", &x.shape())?;
    let each = channels_of(op, groups, channels)?;
    same_shape(op, "y", y.shape(), x.shape(), "y has the shape of x")?;
    extent(op, "weight", 0, [weight.shape()[0], channels], OF_CHANNEL)?;
    extent(op, "bias", 0, [bias.shape()[0], channels], OF_CHANNEL)?;
    for (operand, view) in [("means", &means), ("scales", &scales)] {
        view.as_ref().map_or(Ok(()), |view| same_shape(op, operand, view.shape(), [samples, groups], OF_GROUP))?;
    }
    value(op, "epsilon", epsilon, epsilon >= 0.0, "0 or more", "it keeps a root from 0")?;
    if samples == 0 || channels == 0 || places == 0 {
        return Ok(());
    }
    let (x, mut y) = (x.split(1, [groups, each])?, y.split(1, [groups, each])?);
    let (weight, bias) = (weight.split(0, [groups, each])?, bias.split(0, [groups, each])?);
    let (mut means, mut scales) = (means, scales);
    for of in parts(groups, 1) {
        let means = narrowed(&mut means, &of, stream)?;
        let scales = narrowed(&mut scales, &of, stream)?;
        let (x, y) = (x.narrow(1, of.clone())?, y.reborrow().narrow(1, of.clone())?);
        let (weight, bias) = (weight.narrow(0, of.clone())?, bias.narrow(0, of.clone())?);
        group_norm_kernel::<T>(x, weight, bias, y, means, scales, epsilon).launch(stream, (samples, of.len()))?;
    }
    Ok(())
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

/// Builder of the gradients of a group norm, returned by [`group_norm_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct GroupNormBackward<'a, T> {
    x: View<'a, T, 3>,
    groups: usize,
    weight: View<'a, T, 1>,
    dy: View<'a, T, 3>,
    means: View<'a, f32, 2>,
    scales: View<'a, f32, 2>,
    dx: ViewMut<'a, T, 3>,
    parameters: Option<[Parameter<'a, T>; 2]>,
}

/// The gradient for x of [`group_norm`], from the gradient dy for y, and, by [`parameters`](GroupNormBackward::parameters), those of weight
/// and bias. x, dy and dx are `[samples, channels, places]`, means and scales `[samples, groups]`, as the forward operation has stored them.
///
/// A NaN or an infinity reaches its group of dx, and its channels of the gradients of weight and bias.
pub fn group_norm_backward<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 3>,
    groups: usize,
    weight: impl IntoView<'a, T, 1>,
    dy: impl IntoView<'a, T, 3>,
    means: impl IntoView<'a, f32, 2>,
    scales: impl IntoView<'a, f32, 2>,
    dx: impl IntoViewMut<'a, T, 3>,
) -> GroupNormBackward<'a, T> {
    GroupNormBackward {
        x: x.into_view(),
        groups,
        weight: weight.into_view(),
        dy: dy.into_view(),
        means: means.into_view(),
        scales: scales.into_view(),
        dx: dx.into_view_mut(),
        parameters: None,
    }
}

impl<'a, T: FloatElement> GroupNormBackward<'a, T> {
    /// Computes the gradients of weight and bias, too, `[channels]`, of `T` or of `f32`.
    pub fn parameters<U: SumOf<T>>(
        self,
        dw: impl IntoViewMut<'a, U, 1>,
        db: impl IntoViewMut<'a, U, 1>,
    ) -> GroupNormBackward<'a, T> {
        GroupNormBackward {
            parameters: Some([Parameter::new(dw.into_view_mut()), Parameter::new(db.into_view_mut())]),
            ..self
        }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) if the groups do not divide the channels; errors of the
    /// device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Backward>(self, stream)
    }
}

operation!(Backward: GroupNormBackward by backward);

fn backward<T: FloatElement>(of: GroupNormBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: GroupNormDxKernelInstance<T> + GroupNormParametersKernelInstance<T>,
{
    let op = "group_norm_backward";
    let GroupNormBackward { x, groups, weight, dy, means, scales, dx, parameters } = of;
    let [samples, channels, places] = x.shape();
    size(op, "x", &x.shape())?;
    let each = channels_of(op, groups, channels)?;
    for (operand, shape) in [("dy", dy.shape()), ("dx", dx.shape())] {
        same_shape(op, operand, shape, x.shape(), "gradients have the shape of x")?;
    }
    extent(op, "weight", 0, [weight.shape()[0], channels], OF_CHANNEL)?;
    same_shape(op, "means", means.shape(), [samples, groups], OF_GROUP)?;
    same_shape(op, "scales", scales.shape(), [samples, groups], OF_GROUP)?;
    if let Some([dw, db]) = &parameters {
        extent(op, "dw", 0, [dw.found, channels], OF_CHANNEL)?;
        extent(op, "db", 0, [db.found, channels], OF_CHANNEL)?;
    }
    if channels == 0 {
        return Ok(());
    }
    if samples > 0 && places > 0 {
        let halves = [groups, each];
        let (of_x, of_dy, mut dx) = (x.split(1, halves)?, dy.split(1, halves)?, dx.split(1, halves)?);
        let weight = weight.split(0, halves)?;
        for of in parts(groups, 1) {
            let (of_x, of_dy) = (of_x.narrow(1, of.clone())?, of_dy.narrow(1, of.clone())?);
            let (means, scales) = (means.narrow(1, of.clone())?, scales.narrow(1, of.clone())?);
            let (weight, dx) = (weight.narrow(0, of.clone())?, dx.reborrow().narrow(1, of.clone())?);
            group_norm_dx_kernel::<T>(of_x, weight, of_dy, means, scales, dx).launch(stream, (samples, of.len()))?;
        }
    }
    let Some([dw, db]) = parameters else { return Ok(()) };
    let each = i32::try_from(each).unwrap_or(i32::MAX);
    let (outs, singles) = ((dw.out, db.out), (dw.single, db.single));
    let launch = group_norm_parameters_kernel::<T>(x, dy, means, scales, outs.0, outs.1, singles.0, singles.1, each);
    Ok(launch.launch(stream, channels)?)
}
