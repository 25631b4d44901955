//! Softmax of the last axis.

use super::columns;
use crate::call::Call;
use crate::error::wrap;
use crate::layout::ready;
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{Result, Shape, Tensor};
use triton_kernels::softmax as kernels;

struct Softmax {
    log: bool,
}

/// y = softmax(x) along the last axis, of any rank. `f32`, `f16`, `bf16`; computed in `f32`, rounded once.
///
/// # Errors
/// For another element type, or a tensor without axes.
///
/// ```
/// use candle_core::{Device, Tensor};
/// # fn main() -> candle_core::Result<()> {
/// let x = Tensor::new(&[[0f32, 0.0], [0.0, 3f32.ln()]], &Device::Cpu)?;
/// // The columns: a transposed tensor is not copied.
/// let y = triton_candle::softmax(&x.t()?)?.to_vec2::<f32>()?;
/// assert!((y[0][0] - 0.5).abs() < 1e-6 && (y[1][1] - 0.75).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
pub fn softmax(x: &Tensor) -> Result<Tensor> {
    columns("softmax", x)?;
    apply(Softmax { log: false }, &[(x, 2)])
}

/// y = log(softmax(x)) along the last axis, of any rank: see [`softmax`].
///
/// # Errors
/// Those of [`softmax`].
///
/// ```
/// use candle_core::{Device, Tensor};
/// # fn main() -> candle_core::Result<()> {
/// let y = triton_candle::log_softmax(&Tensor::ones(4, candle_core::DType::F32, &Device::Cpu)?)?;
/// assert!((y.to_vec1::<f32>()?[2] + 4f32.ln()).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
pub fn log_softmax(x: &Tensor) -> Result<Tensor> {
    columns("log_softmax", x)?;
    apply(Softmax { log: true }, &[(x, 2)])
}

impl Operation for Softmax {
    fn name(&self) -> &'static str {
        if self.log { "log_softmax" } else { "softmax" }
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let (op, shape) = (self.name(), Shape::from(of[0].dims()));
        by_float!(op, "x", of[0].dtype(), |T| {
            let (x, mut y) = (call.read::<T>(op, "x", of[0])?, call.fresh::<T>(shape.elem_count())?);
            {
                let mut y = y.write(call);
                let (x, y) = (x.view::<2>()?, y.rows_mut::<2>(&shape)?);
                let softmax = if self.log { kernels::log_softmax(x, y) } else { kernels::softmax(x, y) };
                softmax.launch(call.stream()).map_err(wrap)?;
            }
            Ok((y.into_output(call), shape))
        })
    }

    fn gradients(&self, _: &[&Tensor], y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (op, dy) = (self.name(), ready(dy, 2)?);
        with(op, &[y, &dy], |call, of| {
            by_float!(op, "y", of[0].dtype(), |T| {
                let (out, dy) = (call.read::<T>(op, "y", of[0])?, call.read::<T>(op, "dy", of[1])?);
                let mut dx = call.fresh::<T>(y.elem_count())?;
                {
                    let mut dx = dx.write(call);
                    let (out, dy, dx) = (out.view::<2>()?, dy.view::<2>()?, dx.rows_mut::<2>(y.shape())?);
                    let backward = if self.log {
                        kernels::log_softmax_backward(out, dy, dx)
                    } else {
                        kernels::softmax_backward(out, dy, dx)
                    };
                    backward.launch(call.stream()).map_err(wrap)?;
                }
                Ok(vec![Some(dx.into_tensor(call, y.shape()))])
            })
        })
    }
}
