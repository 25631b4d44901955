//! Activations of elements, activations that gate others, and their gradients.

use super::Activation;
use crate::Result;
use crate::element::FloatElement;
use crate::flat::{axes, corner, fits, programs};
use crate::functions::{activate, activation_derivative, gelu_logistic};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// The activation of what is rounded to `T`. GELU by its error function is bound by arithmetic, not memory.
#[triton::function]
fn activated<T: Float>(x: Tile<T>, kind: i32, slope: f32) -> Tile<f32> {
    let v = x.to::<f32>();
    if kind == 2 && T::EPSILON > 0.0001 { gelu_logistic(v) } else { activate(v, kind, slope) }
}

/// y = f(x).
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 4, general = true), (R = 16, N = 128, num_warps = 4),
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
    (R = 1, N = 2048, num_warps = 4, general = true), (R = 16, N = 128, num_warps = 4),
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
    (R = 1, N = 2048, num_warps = 4, general = true), (R = 16, N = 128, num_warps = 4),
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
    (R = 1, N = 2048, num_warps = 4, general = true), (R = 16, N = 128, num_warps = 4),
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

/// y = f(x), elementwise; computed in `f32`, rounded once.
///
/// Operands whose elements lie one after the other in memory, in rows or in columns, are treated as one row.
///
/// At ±∞ f has its limit; finite numbers give the rounded result, whatever intermediate results are.
///
/// ```
/// use triton::Device;
/// use triton_kernels::activation::{Activation, activation};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[-1.0f32, 2.0], [2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2])?;
/// activation(&x, Activation::Relu, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Activate, tuned)]
pub fn activation<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    kind: Activation,
    #[axes(.., c)] y: ViewMut<T, 2>,
) -> Result<()> {
    if x.shape().contains(&0) {
        return Ok(());
    }
    let axes = axes(x.shape(), &[x.strides(), y.strides()], false);
    let shape = axes.shape(x.shape());
    let kernel = activation_kernel_tuned::<T>(axes.view(x)?, axes.view_mut(y)?, kind.number(), kind.slope());
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}

/// dx = dy · f'(x), elementwise: the gradient for x of y = [`activation`]`(x)`. Relu has the derivative 0 at 0.
///
/// At ±∞ f' has its limit.
///
/// ```
/// use triton::Device;
/// use triton_kernels::activation::{Activation, activation_backward};
///
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[-1.0f32, 2.0], [2])?, stream.tensor(&[3.0f32, 4.0], [2])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([2])?;
/// activation_backward(&x, &dy, Activation::Relu, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.0, 4.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(ActivateBackward, tuned)]
pub fn activation_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] dy: View<T, 2>,
    kind: Activation,
    #[axes(.., c)] dx: ViewMut<T, 2>,
) -> Result<()> {
    if x.shape().contains(&0) {
        return Ok(());
    }
    let axes = axes(x.shape(), &[x.strides(), dy.strides(), dx.strides()], false);
    let shape = axes.shape(x.shape());
    let (x, dy, dx) = (axes.view(x)?, axes.view(dy)?, axes.view_mut(dx)?);
    let kernel = activation_backward_kernel_tuned::<T>(x, dy, dx, kind.number(), kind.slope());
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}

/// y = f(x) · gate, elementwise: with [`Activation::Silu`] SwiGLU, with [`Activation::Gelu`] GeGLU, with
/// [`Activation::Sigmoid`] GLU (Shazeer, "GLU variants improve transformer", 2020, section 2). x and the gate may be halves of the
/// columns of one matrix: [`View::narrow`].
///
/// At ±∞ f has its limit: −∞ closes a gate.
///
/// ```
/// use triton::Device;
/// use triton_kernels::activation::{Activation, gated};
///
/// let stream = Device::cpu().stream()?;
/// let both = stream.tensor(&[-1.0f32, 2.0, 10.0, 10.0], [1, 4])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
/// gated(both.narrow(1, ..2)?, both.narrow(1, 2..)?, Activation::Relu, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 20.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Gated, tuned)]
pub fn gated<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] gate: View<T, 2>,
    kind: Activation,
    #[axes(.., c)] y: ViewMut<T, 2>,
) -> Result<()> {
    if x.shape().contains(&0) {
        return Ok(());
    }
    let axes = axes(x.shape(), &[x.strides(), gate.strides(), y.strides()], false);
    let shape = axes.shape(x.shape());
    let (x, gate, y) = (axes.view(x)?, axes.view(gate)?, axes.view_mut(y)?);
    let kernel = gated_kernel_tuned::<T>(x, gate, y, kind.number(), kind.slope());
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}

/// dx = dy · gate · f'(x) and dgate = dy · f(x), elementwise: the gradients of y = [`gated`]`(x, gate)`.
///
/// At ±∞ f and f' have their limits.
///
/// ```
/// use triton::Device;
/// use triton_kernels::activation::{Activation, gated_backward};
///
/// let stream = Device::cpu().stream()?;
/// let [x, gate, dy] = [3.0f32, 5.0, 2.0].map(|v| stream.tensor(&[v], [1]));
/// let (mut dx, mut dgate) = (stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([1])?);
/// gated_backward(&x?, &gate?, &dy?, Activation::Relu, &mut dx, &mut dgate).launch(&stream)?;
/// assert_eq!((stream.download(&dx)?, stream.download(&dgate)?), (vec![10.0], vec![6.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GatedBackward, tuned)]
pub fn gated_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] gate: View<T, 2>,
    #[axes(.., c)] dy: View<T, 2>,
    kind: Activation,
    #[axes(.., c)] dx: ViewMut<T, 2>,
    #[axes(.., c)] dgate: ViewMut<T, 2>,
) -> Result<()> {
    if x.shape().contains(&0) {
        return Ok(());
    }
    let strides = [x.strides(), gate.strides(), dy.strides(), dx.strides(), dgate.strides()];
    let axes = axes(x.shape(), &strides, false);
    let shape = axes.shape(x.shape());
    let (x, gate, dy) = (axes.view(x)?, axes.view(gate)?, axes.view(dy)?);
    let (dx, dgate) = (axes.view_mut(dx)?, axes.view_mut(dgate)?);
    let kernel = gated_backward_kernel_tuned::<T>(x, gate, dy, dx, dgate, kind.number(), kind.slope());
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}
