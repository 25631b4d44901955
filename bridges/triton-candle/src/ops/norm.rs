//! Norms of the last axis.

use super::{columns, expect_shape};
use crate::call::Call;
use crate::error::wrap;
use crate::layout::ready;
use crate::memory::Memory;
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{Result, Shape, Tensor};
use std::sync::OnceLock;
use triton_kernels::norm as kernels;

struct Norm {
    with_mean: bool,
    epsilon: f32,
    /// Whether there will be gradients.
    keeps: bool,
    /// Means and scales of rows.
    kept: OnceLock<(Memory<f32>, Memory<f32>)>,
}

/// y = (x − mean) / √(variance + ε) · weight + bias along the last axis, of any rank; weight and bias are `[columns]`. `f32`, `f16`, `bf16`.
///
/// If one of the tensors has a gradient, mean and scale of each row are kept for it.
///
/// # Errors
/// For other shapes, element types that differ, or a negative ε.
///
/// ```
/// use candle_core::{Device, Tensor};
/// # fn main() -> candle_core::Result<()> {
/// let x = Tensor::new(&[[1f32, 3.0], [10.0, 30.0]], &Device::Cpu)?;
/// let (weight, bias) = (Tensor::new(&[1f32, 1.0], &Device::Cpu)?, Tensor::new(&[0f32, 100.0], &Device::Cpu)?);
/// let y = triton_candle::layer_norm(&x, &weight, &bias, 0.0)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[-1.0, 101.0], [-1.0, 101.0]]);
/// # Ok(())
/// # }
/// ```
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    let op = "layer_norm";
    let columns = columns(op, x)?;
    expect_shape(op, "weight", weight, &[columns], "an element for each column of x")?;
    expect_shape(op, "bias", bias, &[columns], "an element for each column of x")?;
    let keeps = [x, weight, bias].iter().any(|x| x.track_op());
    let norm = Norm { with_mean: true, epsilon, keeps, kept: OnceLock::new() };
    apply(norm, &[(x, 2), (weight, 1), (bias, 1)])
}

/// y = x / √(mean of x² + ε) · weight along the last axis, of any rank; weight is `[columns]`. As [`layer_norm`] otherwise.
///
/// # Errors
/// Those of [`layer_norm`].
///
/// ```
/// use candle_core::{Device, Tensor};
/// # fn main() -> candle_core::Result<()> {
/// let (x, weight) = (Tensor::new(&[2f32, -2.0], &Device::Cpu)?, Tensor::new(&[1f32, 10.0], &Device::Cpu)?);
/// assert_eq!(triton_candle::rms_norm(&x, &weight, 0.0)?.to_vec1::<f32>()?, [1.0, -10.0]);
/// # Ok(())
/// # }
/// ```
pub fn rms_norm(x: &Tensor, weight: &Tensor, epsilon: f32) -> Result<Tensor> {
    let op = "rms_norm";
    let columns = columns(op, x)?;
    expect_shape(op, "weight", weight, &[columns], "an element for each column of x")?;
    let keeps = x.track_op() || weight.track_op();
    let norm = Norm { with_mean: false, epsilon, keeps, kept: OnceLock::new() };
    apply(norm, &[(x, 2), (weight, 1)])
}

impl Operation for Norm {
    fn name(&self) -> &'static str {
        if self.with_mean { "layer_norm" } else { "rms_norm" }
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let (op, shape) = (self.name(), Shape::from(of[0].dims()));
        by_float!(op, "x", of[0].dtype(), |T| {
            let (x, weight) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "weight", of[1])?);
            let bias = of.get(2).map(|bias| call.read::<T>(op, "bias", *bias)).transpose()?;
            let x = x.view::<2>()?;
            let [rows, _] = x.shape();
            let mut y = call.fresh::<T>(shape.elem_count())?;
            let (mut means, mut scales) = (call.zeros(rows)?, call.zeros(rows)?);
            {
                let (mut y, mut means, mut scales) = (y.write(call), means.write(call), scales.write(call));
                let (weight, y) = (weight.view::<1>()?, y.rows_mut::<2>(&shape)?);
                let (mean, rstd) = (means.view_mut([rows])?, scales.view_mut([rows])?);
                if let Some(bias) = &bias {
                    let norm = kernels::layer_norm(x, weight, bias.view::<1>()?, y).epsilon(self.epsilon);
                    if self.keeps { norm.statistics(mean, rstd) } else { norm }.launch(call.stream()).map_err(wrap)?;
                } else {
                    let norm = kernels::rms_norm(x, weight, y).epsilon(self.epsilon);
                    if self.keeps { norm.statistics(rstd) } else { norm }.launch(call.stream()).map_err(wrap)?;
                }
            }
            if self.keeps {
                // An operation runs once; a second run would keep the same numbers.
                let _ = self.kept.set((means, scales));
            }
            Ok((y.into_output(call), shape))
        })
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (op, shape, dy) = (self.name(), of[0].shape().clone(), ready(dy, 2)?);
        let Some((means, scales)) = self.kept.get() else { candle_core::bail!("`{op}`: it has kept no statistics") };
        let parameters = of[1..].iter().any(|x| x.track_op());
        with(op, &[of[0], of[1], &dy], |call, of| {
            by_float!(op, "x", of[0].dtype(), |T| {
                let (x, weight) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "weight", of[1])?);
                let (dy, means, scales) =
                    (call.read::<T>(op, "dy", of[2])?, means.read(call, op), scales.read(call, op));
                let x = x.view::<2>()?;
                let [rows, columns] = x.shape();
                let mut dx = call.fresh::<T>(shape.elem_count())?;
                let (mut dw, mut db) = (call.fresh::<T>(columns)?, call.fresh::<T>(columns)?);
                {
                    let (mut dx, mut dw, mut db) = (dx.write(call), dw.write(call), db.write(call));
                    let (weight, dy, dx) = (weight.view::<1>()?, dy.view::<2>()?, dx.rows_mut::<2>(&shape)?);
                    let scales = scales.strided([rows], [1], 0)?;
                    let (dw, db) = (dw.view_mut([columns])?, db.view_mut([columns])?);
                    if self.with_mean {
                        let means = means.strided([rows], [1], 0)?;
                        let backward = kernels::layer_norm_backward(x, weight, dy, means, scales, dx);
                        if parameters { backward.dw(dw).db(db) } else { backward }.launch(call.stream())
                    } else {
                        let backward = kernels::rms_norm_backward(x, weight, dy, scales, dx);
                        if parameters { backward.dw(dw) } else { backward }.launch(call.stream())
                    }
                    .map_err(wrap)?;
                }
                let dx = Some(dx.into_tensor(call, shape));
                if !parameters {
                    return Ok(vec![dx]);
                }
                let mut gradients = vec![dx, Some(dw.into_tensor(call, columns))];
                if self.with_mean {
                    gradients.push(Some(db.into_tensor(call, columns)));
                }
                Ok(gradients)
            })
        })
    }
}
