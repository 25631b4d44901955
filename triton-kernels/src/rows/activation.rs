//! Activations of elements, activations that gate others, and their gradients.

use super::flat::{axes, corner, fits, programs};
use crate::element::{FloatElement, operation};
use crate::error::same_shape;
use crate::functions::{activate, activation_derivative, gelu_logistic};
use crate::pool::choose;
use crate::{Activation, Result};
use triton::prelude::*;

/// The activation of what is rounded to `T`. GELU by its error function is bound by arithmetic, not memory.
#[triton::function]
fn activated<T: Float>(x: Tile<T>, kind: i32, slope: f32) -> Tile<f32> {
    let v = x.to::<f32>();
    if kind == 2 && T::EPSILON > 0.0001 { gelu_logistic(v) } else { activate(v, kind, slope) }
}

/// y = f(x).
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn activation_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    #[no_specialize] kind: i32,
    slope: f32,
) {
    let (i, j) = corner::<R, N>(x.dim(1).to::<i32>());
    y.store([i, j], activated(x.load([i, j], [R, N]), kind, slope).to::<T>());
}

/// dx = dy · f'(x).
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn activation_backward_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
    #[no_specialize] kind: i32,
    slope: f32,
) {
    let (i, j) = corner::<R, N>(x.dim(1).to::<i32>());
    let (v, g) = (x.load([i, j], [R, N]).to::<f32>(), dy.load([i, j], [R, N]).to::<f32>());
    dx.store([i, j], (g * activation_derivative(v, kind, slope)).to::<T>());
}

/// y = f(x) · gate.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn gated_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    gate: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    #[no_specialize] kind: i32,
    slope: f32,
) {
    let (i, j) = corner::<R, N>(x.dim(1).to::<i32>());
    let (v, g) = (x.load([i, j], [R, N]).to::<f32>(), gate.load([i, j], [R, N]).to::<f32>());
    y.store([i, j], (activate(v, kind, slope) * g).to::<T>());
}

/// dx = dy · gate · f'(x), and the gradient of the gate is dy · f(x).
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn gated_backward_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    gate: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
    dgate: TensorMut<T, 2>,
    #[no_specialize] kind: i32,
    slope: f32,
) {
    let (i, j) = corner::<R, N>(x.dim(1).to::<i32>());
    let (v, g) = (x.load([i, j], [R, N]).to::<f32>(), gate.load([i, j], [R, N]).to::<f32>());
    let out = dy.load([i, j], [R, N]).to::<f32>();
    dx.store([i, j], (out * g * activation_derivative(v, kind, slope)).to::<T>());
    dgate.store([i, j], (out * activate(v, kind, slope)).to::<T>());
}

/// Builder of an activation, returned by [`activation`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Activate<'a, T> {
    kind: Activation,
    x: View<'a, T, 2>,
    y: ViewMut<'a, T, 2>,
}

/// y = f(x), elementwise, both `[rows, columns]`; computed in `f32`, rounded once.
///
/// Operands whose elements lie one after the other in memory, in rows or in columns, are treated as one row.
///
/// At ±∞ f has its limit; finite numbers give the rounded result, whatever intermediate results are.
///
/// ```
/// use triton::Device;
/// use triton_kernels::{Activation, rows::activation};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[-1.0f32, 2.0], [1, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
/// activation(Activation::Relu, &x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn activation<'a, T: FloatElement>(
    kind: Activation,
    x: impl IntoView<'a, T, 2>,
    y: impl IntoViewMut<'a, T, 2>,
) -> Activate<'a, T> {
    Activate { kind, x: x.into_view(), y: y.into_view_mut() }
}

impl<T: FloatElement> Activate<'_, T> {
    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if y has another shape than x; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: Activate by forward);

fn forward<T: FloatElement>(of: Activate<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: ActivationKernelPool<T>,
{
    let (op, Activate { kind, x, y }) = ("activation", of);
    same_shape(op, "y", y.shape(), x.shape(), "y has the shape of x")?;
    if x.shape().contains(&0) {
        return Ok(());
    }
    let axes = axes(x.shape(), &[x.strides(), y.strides()], false);
    let shape = axes.shape(x.shape());
    let tuned = activation_kernel_tuned::<T>(axes.view(x)?, axes.view_mut(y)?, kind.number(), kind.slope());
    let tuned = choose(op, tuned, None, stream, |of| fits(of.R, shape))?;
    Ok(tuned.launch(stream, |of| programs(shape, of.R, of.N))?)
}

/// Builder of the gradient of an activation, returned by [`activation_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct ActivateBackward<'a, T> {
    kind: Activation,
    x: View<'a, T, 2>,
    dy: View<'a, T, 2>,
    dx: ViewMut<'a, T, 2>,
}

/// dx = dy · f'(x), elementwise, all `[rows, columns]`: the gradient for x of y = [`activation`]`(x)`. Relu has the derivative 0 at 0.
///
/// At ±∞ f' has its limit.
///
/// ```
/// use triton::Device;
/// use triton_kernels::{Activation, rows::activation_backward};
///
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[-1.0f32, 2.0], [1, 2])?, stream.tensor(&[3.0f32, 4.0], [1, 2])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 2])?;
/// activation_backward(Activation::Relu, &x, &dy, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.0, 4.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn activation_backward<'a, T: FloatElement>(
    kind: Activation,
    x: impl IntoView<'a, T, 2>,
    dy: impl IntoView<'a, T, 2>,
    dx: impl IntoViewMut<'a, T, 2>,
) -> ActivateBackward<'a, T> {
    ActivateBackward { kind, x: x.into_view(), dy: dy.into_view(), dx: dx.into_view_mut() }
}

impl<T: FloatElement> ActivateBackward<'_, T> {
    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if dy or dx has another shape than x; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Backward>(self, stream)
    }
}

operation!(Backward: ActivateBackward by backward);

fn backward<T: FloatElement>(of: ActivateBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: ActivationBackwardKernelPool<T>,
{
    let (op, ActivateBackward { kind, x, dy, dx }) = ("activation_backward", of);
    for (operand, shape) in [("dy", dy.shape()), ("dx", dx.shape())] {
        same_shape(op, operand, shape, x.shape(), "gradients have the shape of x")?;
    }
    if x.shape().contains(&0) {
        return Ok(());
    }
    let axes = axes(x.shape(), &[x.strides(), dy.strides(), dx.strides()], false);
    let shape = axes.shape(x.shape());
    let (x, dy, dx) = (axes.view(x)?, axes.view(dy)?, axes.view_mut(dx)?);
    let tuned = activation_backward_kernel_tuned::<T>(x, dy, dx, kind.number(), kind.slope());
    let tuned = choose(op, tuned, None, stream, |of| fits(of.R, shape))?;
    Ok(tuned.launch(stream, |of| programs(shape, of.R, of.N))?)
}

/// Builder of a gated activation: elements times an activation of others, returned by [`gated`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Gated<'a, T> {
    kind: Activation,
    x: View<'a, T, 2>,
    gate: View<'a, T, 2>,
    y: ViewMut<'a, T, 2>,
}

/// y = f(x) · gate, elementwise, all `[rows, columns]`: with [`Activation::Silu`] SwiGLU, with [`Activation::Gelu`] GeGLU, with
/// [`Activation::Sigmoid`] GLU (Shazeer, "GLU variants improve transformer", 2020, section 2). x and the gate may be halves of the
/// columns of one matrix: [`View::narrow`].
///
/// At ±∞ f has its limit: −∞ closes a gate.
///
/// ```
/// use triton::Device;
/// use triton_kernels::{Activation, rows::gated};
///
/// let stream = Device::cpu().stream()?;
/// let both = stream.upload(&[-1.0f32, 2.0, 10.0, 10.0])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
/// let both = both.view([1, 4])?;
/// gated(Activation::Relu, both.narrow(1, ..2)?, both.narrow(1, 2..)?, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 20.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn gated<'a, T: FloatElement>(
    kind: Activation,
    x: impl IntoView<'a, T, 2>,
    gate: impl IntoView<'a, T, 2>,
    y: impl IntoViewMut<'a, T, 2>,
) -> Gated<'a, T> {
    Gated { kind, x: x.into_view(), gate: gate.into_view(), y: y.into_view_mut() }
}

impl<T: FloatElement> Gated<'_, T> {
    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the gate or y has another shape than x; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<GatedForward>(self, stream)
    }
}

operation!(GatedForward: Gated by gated_forward);

fn gated_forward<T: FloatElement>(of: Gated<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: GatedKernelPool<T>,
{
    let (op, Gated { kind, x, gate, y }) = ("gated", of);
    same_shape(op, "gate", gate.shape(), x.shape(), "the gate has the shape of x")?;
    same_shape(op, "y", y.shape(), x.shape(), "y has the shape of x")?;
    if x.shape().contains(&0) {
        return Ok(());
    }
    let axes = axes(x.shape(), &[x.strides(), gate.strides(), y.strides()], false);
    let shape = axes.shape(x.shape());
    let tuned =
        gated_kernel_tuned::<T>(axes.view(x)?, axes.view(gate)?, axes.view_mut(y)?, kind.number(), kind.slope());
    let tuned = choose(op, tuned, None, stream, |of| fits(of.R, shape))?;
    Ok(tuned.launch(stream, |of| programs(shape, of.R, of.N))?)
}

/// Builder of the gradients of a gated activation, returned by [`gated_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct GatedBackward<'a, T> {
    kind: Activation,
    x: View<'a, T, 2>,
    gate: View<'a, T, 2>,
    dy: View<'a, T, 2>,
    dx: ViewMut<'a, T, 2>,
    dgate: ViewMut<'a, T, 2>,
}

/// dx = dy · gate · f'(x) and dgate = dy · f(x), elementwise, all `[rows, columns]`: the gradients of y = [`gated`]`(x, gate)`.
///
/// At ±∞ f and f' have their limits.
///
/// ```
/// use triton::Device;
/// use triton_kernels::{Activation, rows::gated_backward};
///
/// let stream = Device::cpu().stream()?;
/// let (x, gate, dy) = (stream.upload(&[3.0f32])?, stream.upload(&[5.0f32])?, stream.upload(&[2.0f32])?);
/// let (mut dx, mut dgate) = (stream.tensor_uninit::<f32, _>([1, 1])?, stream.tensor_uninit::<f32, _>([1, 1])?);
/// let (x, gate, dy) = (x.view([1, 1])?, gate.view([1, 1])?, dy.view([1, 1])?);
/// gated_backward(Activation::Relu, x, gate, dy, &mut dx, &mut dgate).launch(&stream)?;
/// assert_eq!((stream.download(&dx)?, stream.download(&dgate)?), (vec![10.0], vec![6.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn gated_backward<'a, T: FloatElement>(
    kind: Activation,
    x: impl IntoView<'a, T, 2>,
    gate: impl IntoView<'a, T, 2>,
    dy: impl IntoView<'a, T, 2>,
    dx: impl IntoViewMut<'a, T, 2>,
    dgate: impl IntoViewMut<'a, T, 2>,
) -> GatedBackward<'a, T> {
    GatedBackward {
        kind,
        x: x.into_view(),
        gate: gate.into_view(),
        dy: dy.into_view(),
        dx: dx.into_view_mut(),
        dgate: dgate.into_view_mut(),
    }
}

impl<T: FloatElement> GatedBackward<'_, T> {
    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if an operand has another shape than x; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<GatedGradient>(self, stream)
    }
}

operation!(GatedGradient: GatedBackward by gated_gradient);

fn gated_gradient<T: FloatElement>(of: GatedBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: GatedBackwardKernelPool<T>,
{
    let (op, GatedBackward { kind, x, gate, dy, dx, dgate }) = ("gated_backward", of);
    let others = [("gate", gate.shape()), ("dy", dy.shape()), ("dx", dx.shape()), ("dgate", dgate.shape())];
    for (operand, shape) in others {
        same_shape(op, operand, shape, x.shape(), "all operands have one shape")?;
    }
    if x.shape().contains(&0) {
        return Ok(());
    }
    let strides = [x.strides(), gate.strides(), dy.strides(), dx.strides(), dgate.strides()];
    let axes = axes(x.shape(), &strides, false);
    let shape = axes.shape(x.shape());
    let (x, gate, dy) = (axes.view(x)?, axes.view(gate)?, axes.view(dy)?);
    let tuned = gated_backward_kernel_tuned::<T>(
        x,
        gate,
        dy,
        axes.view_mut(dx)?,
        axes.view_mut(dgate)?,
        kind.number(),
        kind.slope(),
    );
    let tuned = choose(op, tuned, None, stream, |of| fits(of.R, shape))?;
    Ok(tuned.launch(stream, |of| programs(shape, of.R, of.N))?)
}
