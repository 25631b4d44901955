//! Cross entropy, with the gradient in the same launch.

use super::expect_shape;
use crate::call::Call;
use crate::error::{shape as shape_error, wrap};
use crate::operation::{Operand, Operation, Output, apply, by_float};
use candle_core::{Result, Shape, Tensor};
use std::sync::OnceLock;
use triton_kernels::activation::{Activation, activation};
use triton_kernels::loss as kernels;

/// Options of [`cross_entropy`]; the default is the plain loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropyOptions {
    /// The target has 1 − s at the label and s / classes everywhere.
    pub label_smoothing: f32,
    /// Adds z · (log Σ exp)².
    pub z_loss: f32,
    /// Rows with this label have loss and gradient 0.
    pub ignore: Option<i32>,
}

struct CrossEntropy {
    options: CrossEntropyOptions,
    keeps: bool,
    /// The gradient of the sum of losses.
    gradient: OnceLock<Tensor>,
}

/// The loss of each row, `[rows]` in `f32`: log Σⱼ exp(logits\[i, j\]) − logits\[i, labels\[i\]\] of logits `[rows, classes]`. Their mean, by
/// `mean_all`, is candle's `loss::cross_entropy`.
///
/// Logits are `f32`, `f16`, `bf16`; labels `u32`, `i32` or `i64`. The loss of a label that is not a class is NaN. If the logits have a gradient, the
/// launch computes it, too, in a copy of them.
///
/// # Errors
/// For other shapes or element types, or options out of their range.
///
/// ```
/// use candle_core::{Device, Tensor, Var};
/// # fn main() -> candle_core::Result<()> {
/// let logits = Var::new(&[[0f32, 0.0], [3f32.ln(), 0.0]], &Device::Cpu)?;
/// let labels = Tensor::new(&[0u32, 1], &Device::Cpu)?;
/// let loss = triton_candle::cross_entropy(&logits, &labels, Default::default())?;
/// assert!((loss.to_vec1::<f32>()?[1] - 4f32.ln()).abs() < 1e-6);
/// let gradients = loss.mean_all()?.backward()?;
/// let gradient = gradients.get(&logits).unwrap().to_vec2::<f32>()?;
/// assert!((gradient[1][0] - 0.375).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
pub fn cross_entropy(logits: &Tensor, labels: &Tensor, options: CrossEntropyOptions) -> Result<Tensor> {
    let [rows, _] = *logits.dims() else {
        return Err(shape_error("cross_entropy", "logits", logits.dims(), "[rows, classes]"));
    };
    expect_shape("cross_entropy", "labels", labels, &[rows], "a label for each row")?;
    let operation = CrossEntropy { options, keeps: logits.track_op(), gradient: OnceLock::new() };
    apply(operation, &[(logits, 2), (labels, 1)])
}

impl Operation for CrossEntropy {
    fn name(&self) -> &'static str {
        "cross_entropy"
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let (op, labels) = (self.name(), call.ids(self.name(), "labels", of[1])?);
        by_float!(op, "logits", of[0].dtype(), |T| {
            let logits = call.read::<T>(op, "logits", of[0])?;
            let logits = logits.view::<2>()?;
            let shape = logits.shape();
            let (mut copy, mut loss) = (call.fresh::<T>(shape[0] * shape[1])?, call.fresh::<f32>(shape[0])?);
            {
                let (mut copy, mut loss) = (copy.write(call), loss.write(call));
                let mut copy = copy.view_mut(shape)?;
                activation(logits, Activation::Identity, copy.reborrow()).launch(call.stream()).map_err(wrap)?;
                let CrossEntropyOptions { label_smoothing, z_loss, ignore } = self.options;
                let mut entropy = kernels::cross_entropy(copy, labels.view()?, loss.view_mut([shape[0]])?)
                    .label_smoothing(label_smoothing)
                    .z_loss(z_loss);
                if let Some(label) = ignore {
                    entropy = entropy.ignore(label);
                }
                if self.keeps {
                    entropy = entropy.gradient_in_place();
                }
                entropy.launch(call.stream()).map_err(wrap)?;
            }
            if self.keeps {
                // An operation runs once; a second run would keep the same numbers.
                let _ = self.gradient.set(copy.into_tensor(call, of[0].dims()));
            }
            Ok((loss.into_output(call), Shape::from(shape[0])))
        })
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let Some(gradient) = self.gradient.get() else {
            candle_core::bail!("`cross_entropy`: it has kept no gradient")
        };
        let dy = dy.to_dtype(of[0].dtype())?.unsqueeze(1)?;
        Ok(vec![Some(gradient.broadcast_mul(&dy)?), None])
    }
}
