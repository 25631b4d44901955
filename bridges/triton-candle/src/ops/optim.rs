//! AdamW, in place.

use crate::call::Call;
use crate::error::wrap;
use crate::layout::{merge, ready};
use crate::memory::{Memory, Write};
use crate::operation::{Operand, Place, by_float};
use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, CudaStorage, InplaceOp2, Layout, Result, Tensor, Var};
use candle_nn::Optimizer;
use std::fmt;
use std::sync::Mutex;
use triton_kernels::optim;

/// Options of [`AdamW`]: those of candle's, and a factor of gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamWOptions {
    /// The learning rate.
    pub rate: f64,
    /// How much of the mean of gradients stays.
    pub beta1: f64,
    /// How much of the mean of their squares stays.
    pub beta2: f64,
    /// Added to a root.
    pub epsilon: f64,
    /// The decay of weights.
    pub decay: f64,
    /// Multiplies gradients first: 1 / the scale of the loss.
    pub unscale: f64,
}

impl Default for AdamWOptions {
    fn default() -> AdamWOptions {
        AdamWOptions { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.01, unscale: 1.0 }
    }
}

impl From<candle_nn::ParamsAdamW> for AdamWOptions {
    fn from(of: candle_nn::ParamsAdamW) -> AdamWOptions {
        let candle_nn::ParamsAdamW { lr, beta1, beta2, eps, weight_decay } = of;
        AdamWOptions { rate: lr, beta1, beta2, epsilon: eps, decay: weight_decay, unscale: 1.0 }
    }
}

/// Mean and mean of squares of a gradient, in `f32`.
type Moments = Option<(Memory<f32>, Memory<f32>)>;

/// AdamW as candle's optimizer: one launch for each variable and step, which updates the variable, and the moments in `f32`, in place.
///
/// Variables are `f32`, `f16` or `bf16`; others are left out, as candle does.
///
/// ```
/// use candle_core::{Device, Var};
/// use candle_nn::Optimizer;
/// use triton_candle::{AdamW, AdamWOptions};
/// # fn main() -> candle_core::Result<()> {
/// let w = Var::new(&[1f32, 1.0], &Device::Cpu)?;
/// let options = AdamWOptions { rate: 0.25, decay: 0.0, ..Default::default() };
/// let mut adam = AdamW::new(vec![w.clone()], options)?;
/// adam.backward_step(&w.sum_all()?)?;
/// // The first step is as long as the rate, whatever the gradient.
/// assert!((w.to_vec1::<f32>()?[0] - 0.75).abs() < 1e-5);
/// # Ok(())
/// # }
/// ```
pub struct AdamW {
    variables: Vec<(Var, Mutex<Moments>)>,
    step: u32,
    options: AdamWOptions,
}

impl fmt::Debug for AdamW {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AdamW({} variables, step {}, {:?})", self.variables.len(), self.step, self.options)
    }
}

impl Optimizer for AdamW {
    type Config = AdamWOptions;

    fn new(vars: Vec<Var>, options: AdamWOptions) -> Result<AdamW> {
        let floats = vars.into_iter().filter(|var| var.dtype().is_float());
        Ok(AdamW { variables: floats.map(|var| (var, Mutex::new(None))).collect(), step: 0, options })
    }

    fn step(&mut self, gradients: &GradStore) -> Result<()> {
        self.step += 1;
        for (var, moments) in &self.variables {
            if let Some(gradient) = gradients.get(var) {
                let gradient = elementwise(var, gradient)?;
                let step = Step { moments, options: self.options, step: self.step };
                var.as_tensor().inplace_op2(&gradient, &step)?;
            }
        }
        Ok(())
    }

    fn learning_rate(&self) -> f64 {
        self.options.rate
    }

    fn set_learning_rate(&mut self, rate: f64) {
        self.options.rate = rate;
    }
}

/// A gradient whose axes merge as those of a contiguous variable.
fn elementwise(var: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    super::expect_shape("adamw", "gradient", gradient, var.dims(), "the shape of the variable")?;
    ready(gradient, 2)
}

struct Step<'a> {
    moments: &'a Mutex<Moments>,
    options: AdamWOptions,
    step: u32,
}

impl Step<'_> {
    fn run<T: crate::Element + triton_kernels::FloatElement>(
        &self,
        call: &Call,
        mut weight: Write<'_, T>,
        layout: &Layout,
        gradient: Operand<'_>,
    ) -> Result<()> {
        let op = "adamw";
        let gradient = call.read::<T>(op, "gradient", gradient)?;
        let gradient = gradient.view::<2>()?;
        let merged = merge::<2>(layout.dims(), layout.stride());
        let (shape, strides) = merged.ok_or_else(|| crate::error::unmerged(op, "weight", 2))?;
        let weight = weight.strided_mut(shape, strides, layout.start_offset())?;
        let mut moments = self.moments.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let moments = match &mut *moments {
            Some(moments) => moments,
            none => none.insert((call.zeros(shape[0] * shape[1])?, call.zeros(shape[0] * shape[1])?)),
        };
        let (mut mean, mut square) = (moments.0.write(call), moments.1.write(call));
        let AdamWOptions { rate, beta1, beta2, epsilon, decay, unscale } = self.options;
        let options = optim::AdamWOptions {
            rate: rate as f32,
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            epsilon: epsilon as f32,
            decay: decay as f32,
            step: self.step,
        };
        optim::adamw(weight, gradient, mean.view_mut(shape)?, square.view_mut(shape)?, options)
            .unscale(unscale as f32)
            .launch(call.stream())
            .map_err(wrap)
    }
}

impl InplaceOp2 for Step<'_> {
    fn name(&self) -> &'static str {
        "adamw"
    }

    fn cpu_fwd(&self, w: &mut CpuStorage, layout: &Layout, g: &CpuStorage, of_g: &Layout) -> Result<()> {
        use candle_core::backend::BackendStorage;
        let (call, gradient) = (Call::cpu()?, Operand { place: Place::Cpu(g), layout: of_g });
        by_float!("adamw", "weight", w.dtype(), |T| {
            self.run::<T>(&call, Write::cpu(&call, "adamw", w)?, layout, gradient)
        })
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(&self, w: &mut CudaStorage, layout: &Layout, g: &CudaStorage, of_g: &Layout) -> Result<()> {
        use candle_core::backend::BackendStorage;
        let (call, gradient) = (Call::on_cuda(w.device())?, Operand { place: Place::Cuda(g), layout: of_g });
        by_float!("adamw", "weight", w.dtype(), |T| { self.run::<T>(&call, Write::cuda(&call, w)?, layout, gradient) })
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda_fwd(&self, _: &mut CudaStorage, _: &Layout, _: &CudaStorage, _: &Layout) -> Result<()> {
        candle_core::bail!("`adamw`: build triton-candle with the feature `cuda` for tensors on CUDA devices")
    }
}
