//! Steps of optimisers: stochastic gradient descent and AdamW.

use crate::Result;
use crate::element::FloatElement;
use crate::flat::{axes, corner, fits, programs};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// What a step of gradient descent takes, as [`sgd`] says.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdOptions {
    /// The learning rate.
    pub rate: f32,
    /// How much of the velocity stays.
    pub momentum: f32,
    /// How much of a gradient does not come into the velocity.
    pub dampening: f32,
    /// How much of the weight is added to the gradient.
    pub decay: f32,
    /// Whether the step looks ahead (Nesterov).
    pub nesterov: bool,
}

impl Default for SgdOptions {
    /// A rate of 10⁻³, and nothing else.
    fn default() -> SgdOptions {
        SgdOptions { rate: 1e-3, momentum: 0.0, dampening: 0.0, decay: 0.0, nesterov: false }
    }
}

/// What a step of AdamW takes, as [`adamw`] says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWOptions {
    /// The learning rate.
    pub rate: f32,
    /// How much of the mean of gradients stays.
    pub beta1: f32,
    /// How much of the mean of their squares stays.
    pub beta2: f32,
    /// What is added to the root of the mean of squares.
    pub epsilon: f32,
    /// How much of the weight a rate of 1 removes.
    pub decay: f32,
    /// The number of the step, from 1 on, which corrects means that began as 0.
    pub step: u32,
}

impl Default for AdamWOptions {
    /// As PyTorch: a rate of 10⁻³, 0.9 and 0.999, 10⁻⁸, a decay of 10⁻², the first step.
    fn default() -> AdamWOptions {
        AdamWOptions { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 1e-2, step: 1 }
    }
}

/// The numbers of a step of AdamW that are the same for all weights.
#[triton::params]
#[derive(Clone, Copy, Debug)]
struct AdamStep {
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    /// 1 − rate · decay.
    kept: f32,
    /// rate / (1 − β₁ᵗ).
    rate: f32,
    /// 1 / √(1 − β₂ᵗ).
    correction: f32,
}

/// One step of gradient descent. With MASTER the weight is read from `master`, and stored to both.
#[triton::kernel(T = [f32, f16, bf16], MASTER = [false, true], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn sgd_kernel<T: Float, const MASTER: bool, const R: i32, const N: i32>(
    weight: TensorMut<T, 2>,
    gradient: Tensor<T, 2>,
    velocity: TensorMut<f32, 2>,
    master: TensorMut<f32, 2>,
    options: SgdOptions,
    unscale: f32,
) {
    let (i, j) = corner::<R, N>(weight.dim(1).to::<i32>());
    let w = if MASTER { master.load([i, j], [R, N]) } else { weight.load([i, j], [R, N]).to::<f32>() };
    let g = fma(w, options.decay, gradient.load([i, j], [R, N]).to::<f32>() * unscale);
    let mut step = g;
    if options.momentum != 0.0 {
        let v = fma(velocity.load([i, j], [R, N]), options.momentum, g * (1.0 - options.dampening));
        velocity.store([i, j], v);
        step = if options.nesterov { fma(v, options.momentum, g) } else { v };
    }
    let w = fma(step, -options.rate, w);
    if MASTER {
        master.store([i, j], w);
    }
    weight.store([i, j], w.to::<T>());
}

/// One step of AdamW. With MASTER the weight is read from `master`, and stored to both.
#[triton::kernel(T = [f32, f16, bf16], MASTER = [false, true], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn adamw_kernel<T: Float, const MASTER: bool, const R: i32, const N: i32>(
    weight: TensorMut<T, 2>,
    gradient: Tensor<T, 2>,
    mean: TensorMut<f32, 2>,
    square: TensorMut<f32, 2>,
    master: TensorMut<f32, 2>,
    step: AdamStep,
    unscale: f32,
) {
    let (i, j) = corner::<R, N>(weight.dim(1).to::<i32>());
    let w = if MASTER { master.load([i, j], [R, N]) } else { weight.load([i, j], [R, N]).to::<f32>() };
    let g = gradient.load([i, j], [R, N]).to::<f32>() * unscale;
    let (m, v) = (mean.load([i, j], [R, N]), square.load([i, j], [R, N]));
    let m = fma(m, step.beta1, g * (1.0 - step.beta1));
    let v = fma(v, step.beta2, g * g * (1.0 - step.beta2));
    let w = w * step.kept - m * step.rate / fma(sqrt(v), step.correction, step.epsilon);
    mean.store([i, j], m);
    square.store([i, j], v);
    if MASTER {
        master.store([i, j], w);
    }
    weight.store([i, j], w.to::<T>());
}

/// One step of stochastic gradient descent: with g the gradient + decay · weight, velocity = momentum · velocity + (1 − dampening) · g, and
/// weight −= rate · velocity, or with Nesterov rate · (g + momentum · velocity) (Sutskever, Martens, Dahl and Hinton, "On the importance of
/// initialization and momentum in deep learning", 2013, section 2, in the form of `torch.optim.SGD`). Arithmetic is in `f32`.
///
/// A momentum needs a [`velocity`](Sgd::velocity). A NaN or an infinity reaches its element alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::optim::{SgdOptions, sgd};
///
/// let stream = Device::cpu().stream()?;
/// let (mut w, g) = (stream.tensor(&[1.0f32, 2.0], [2])?, stream.tensor(&[4.0f32, 8.0], [2])?);
/// let options = SgdOptions { rate: 0.125, ..SgdOptions::default() };
/// sgd(&mut w, &g, options).launch(&stream)?;
/// assert_eq!(stream.download(&w)?, [0.5, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: none, it is a step of an optimiser.
#[operation(Sgd, tuned)]
pub fn sgd<T: FloatElement>(
    call: Call,
    #[axes(.., c)] weight: ViewMut<T, 2>,
    #[axes(.., c)] gradient: View<T, 2>,
    options: SgdOptions,
    /// The velocity, which a momentum needs; 0 before the first step.
    #[axes(.., c)]
    velocity: Option<ViewMut<f32, 2>>,
    /// The weight in `f32`, of which `weight` becomes a rounded copy.
    #[axes(.., c)]
    master: Option<ViewMut<f32, 2>>,
    /// Multiplies the gradient first: by 1 / the scale of the loss.
    #[default(1.0)]
    unscale: f32,
) -> Result<()> {
    let step = options;
    let has = velocity.is_some() || step.momentum == 0.0;
    call.value("momentum", step.momentum, has, "0 without a velocity", "pass the velocity by `velocity`")?;
    let of = weight.shape();
    if of.contains(&0) {
        return Ok(());
    }
    let strides_of = |view: &Option<ViewMut<'_, f32, 2>>| view.as_ref().map_or(weight.strides(), ViewMut::strides);
    let strides = [weight.strides(), gradient.strides(), strides_of(&velocity), strides_of(&master)];
    let axes = axes(of, &strides, false);
    let shape = axes.shape(of);
    let (weight, gradient) = (axes.view_mut(weight)?, axes.view(gradient)?);
    let velocity = call.view_mut(velocity.map(|view| axes.view_mut(view)).transpose()?);
    if let Some(master) = master {
        let kernel = sgd_kernel_tuned::<T, true>(weight, gradient, velocity, axes.view_mut(master)?, step, unscale);
        return call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N));
    }
    let kernel = sgd_kernel_tuned::<T, false>(weight, gradient, velocity, call.view_mut(None), step, unscale);
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}

/// One step of AdamW: mean = β₁ · mean + (1 − β₁) · g, square = β₂ · square + (1 − β₂) · g², and weight =
/// (1 − rate · decay) · weight − rate · m̂ / (√v̂ + ε), where m̂ = mean / (1 − β₁ᵗ) and v̂ = square / (1 − β₂ᵗ) in step t (Loshchilov and
/// Hutter, "Decoupled weight decay regularization", 2019, algorithm 2), as `torch.optim.AdamW`. Mean and square are 0 before the first step.
/// Arithmetic is in `f32`.
///
/// A NaN or an infinity reaches its element alone. `launch` returns [`Error::Value`](crate::Error::Value) for step 0, and for β₁ or β₂ that are not
/// from 0 up to, but not including, 1.
///
/// ```
/// use triton::Device;
/// use triton_kernels::optim::{AdamWOptions, adamw};
///
/// let stream = Device::cpu().stream()?;
/// let (mut w, g) = (stream.tensor(&[1.0f32, 1.0], [2])?, stream.tensor(&[4.0f32, -0.5], [2])?);
/// let (mut m, mut v) = (stream.tensor_zeros::<f32, _>([2])?, stream.tensor_zeros::<f32, _>([2])?);
/// let options = AdamWOptions { rate: 0.25, decay: 0.0, ..AdamWOptions::default() };
/// adamw(&mut w, &g, &mut m, &mut v, options).launch(&stream)?;
/// // The first step is as long as the rate, whatever the gradient.
/// let w = stream.download(&w)?;
/// assert!((w[0] - 0.75).abs() < 1e-5 && (w[1] - 1.25).abs() < 1e-5);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: none, it is a step of an optimiser.
#[operation(AdamW, tuned)]
pub fn adamw<T: FloatElement>(
    call: Call,
    #[axes(.., c)] weight: ViewMut<T, 2>,
    #[axes(.., c)] gradient: View<T, 2>,
    #[axes(.., c)] mean: ViewMut<f32, 2>,
    #[axes(.., c)] square: ViewMut<f32, 2>,
    options: AdamWOptions,
    /// The weight in `f32`, of which `weight` becomes a rounded copy.
    #[axes(.., c)]
    master: Option<ViewMut<f32, 2>>,
    /// Multiplies the gradient first: by 1 / the scale of the loss.
    #[default(1.0)]
    unscale: f32,
) -> Result<()> {
    let AdamWOptions { step, beta1, beta2, .. } = options;
    call.value("step", step, step > 0, "1 or more", "the first step is number 1")?;
    for (name, beta) in [("beta1", beta1), ("beta2", beta2)] {
        let is_share = (0.0..1.0).contains(&beta);
        call.value(name, beta, is_share, "from 0 up to, but not including, 1", "it is how much stays")?;
    }
    let of = weight.shape();
    if of.contains(&0) {
        return Ok(());
    }
    let of_master = master.as_ref().map_or(weight.strides(), ViewMut::strides);
    let strides = [weight.strides(), gradient.strides(), mean.strides(), square.strides(), of_master];
    let axes = axes(of, &strides, false);
    let (shape, step) = (axes.shape(of), options.of_step());
    let (weight, gradient) = (axes.view_mut(weight)?, axes.view(gradient)?);
    let (mean, square) = (axes.view_mut(mean)?, axes.view_mut(square)?);
    if let Some(master) = master {
        let master = axes.view_mut(master)?;
        let kernel = adamw_kernel_tuned::<T, true>(weight, gradient, mean, square, master, step, unscale);
        return call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N));
    }
    let kernel = adamw_kernel_tuned::<T, false>(weight, gradient, mean, square, call.view_mut(None), step, unscale);
    call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))
}

impl AdamWOptions {
    fn of_step(self) -> AdamStep {
        let AdamWOptions { rate, beta1, beta2, epsilon, decay, step } = self;
        let left = |beta: f32| 1.0 - f64::from(beta).powi(i32::try_from(step).unwrap_or(i32::MAX));
        let kept = (1.0 - f64::from(rate) * f64::from(decay)) as f32;
        let rate = (f64::from(rate) / left(beta1)) as f32;
        AdamStep { beta1, beta2, epsilon, kept, rate, correction: (1.0 / left(beta2).sqrt()) as f32 }
    }
}
