//! Linear layers.

use super::{activation, columns, expect_shape};
use crate::call::Call;
use crate::error::{shape as shape_error, wrap};
use crate::layout::ready;
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{Result, Shape, Tensor};
use triton_kernels::Activation;
use triton_kernels::linear::{gemm, linear_backward};

/// What [`linear`] does after the product; the default is nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearOptions<'a> {
    /// Added to each row, `[N]`.
    pub bias: Option<&'a Tensor>,
    /// Applied after the bias.
    pub activation: Activation,
    /// Added after the activation, of the shape of y.
    pub residual: Option<&'a Tensor>,
}

struct Linear {
    activation: Activation,
    has_bias: bool,
    has_residual: bool,
}

/// y = activation(x · wᵀ + bias) + residual, of x `[.., K]` and w `[N, K]`, to `[.., N]`. `f32`, `f16`, `bf16`; products are added in `f32`.
///
/// Without gradients all of it is one launch. With them, activation and residual are launches of their own where the gradient needs what is
/// before them.
///
/// # Errors
/// For other shapes or element types that differ.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use triton_candle::{Activation, LinearOptions, linear};
/// # fn main() -> candle_core::Result<()> {
/// let (x, w) = (Tensor::new(&[[1f32, 2.0]], &Device::Cpu)?, Tensor::new(&[[1f32, 1.0], [-1.0, -1.0]], &Device::Cpu)?);
/// let bias = Tensor::new(&[0.5f32, 0.0], &Device::Cpu)?;
/// let options = LinearOptions { bias: Some(&bias), activation: Activation::Relu, ..Default::default() };
/// assert_eq!(linear(&x, &w, options)?.to_vec2::<f32>()?, [[3.5, 0.0]]);
/// # Ok(())
/// # }
/// ```
pub fn linear(x: &Tensor, w: &Tensor, options: LinearOptions<'_>) -> Result<Tensor> {
    let (op, LinearOptions { bias, activation: kind, residual }) = ("linear", options);
    let k = columns(op, x)?;
    let [n, _] = *w.dims() else { return Err(shape_error(op, "w", w.dims(), "[N, K]")) };
    expect_shape(op, "w", w, &[n, k], "a column for each one of x")?;
    bias.map_or(Ok(()), |bias| expect_shape(op, "bias", bias, &[n], "an element for each column of y"))?;
    let mut shape = x.dims().to_vec();
    shape.pop();
    shape.push(n);
    residual.map_or(Ok(()), |residual| expect_shape(op, "residual", residual, &shape, "the shape of y"))?;
    let tracked = [Some(x), Some(w), bias, residual].into_iter().flatten().any(Tensor::track_op);
    if tracked && kind != Activation::Identity {
        let y = activation(&linear(x, w, LinearOptions { bias, ..LinearOptions::default() })?, kind)?;
        return residual.map_or(Ok(y.clone()), |residual| y + residual);
    }
    if let (true, Some(_), Some(residual)) = (tracked, bias, residual) {
        return linear(x, w, LinearOptions { bias, ..LinearOptions::default() })? + residual;
    }
    let operation = Linear { activation: kind, has_bias: bias.is_some(), has_residual: residual.is_some() };
    let mut of = vec![(x, 2), (w, 2)];
    of.extend(bias.map(|bias| (bias, 1)));
    of.extend(residual.map(|residual| (residual, 2)));
    apply(operation, &of)
}

impl Operation for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let op = self.name();
        by_float!(op, "x", of[0].dtype(), |T| {
            let (x, w) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "w", of[1])?);
            let mut rest = of[2..].iter();
            let mut next = |has: bool, operand| match rest.next().filter(|_| has) {
                Some(of) => call.read::<T>(op, operand, *of).map(Some),
                None => Ok(None),
            };
            // A residual follows the bias, if there is one.
            let bias = if self.has_bias { next(true, "bias")? } else { None };
            let residual = next(self.has_residual, "residual")?;
            let (x, w) = (x.view::<2>()?, w.view::<2>()?);
            let (m, n) = (x.shape()[0], w.shape()[0]);
            let mut y = call.fresh::<T>(m * n)?;
            {
                let mut y = y.write(call);
                let mut gemm = gemm(x, w.transpose(), y.view_mut([m, n])?).activation(self.activation);
                if let Some(bias) = &bias {
                    gemm = gemm.bias(bias.view::<1>()?);
                }
                if let Some(residual) = &residual {
                    gemm = gemm.residual(residual.view::<2>()?);
                }
                gemm.launch(call.stream()).map_err(wrap)?;
            }
            let mut shape = of[0].dims().to_vec();
            shape.pop();
            shape.push(n);
            Ok((y.into_output(call), Shape::from(shape)))
        })
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (op, ready_dy) = (self.name(), ready(dy, 2)?);
        let wanted = [of[0].track_op(), of[1].track_op(), self.has_bias && of[2].track_op()];
        let shape = of[0].shape().clone();
        let mut gradients = with(op, &[of[0], of[1], &ready_dy], |call, of| {
            by_float!(op, "x", of[0].dtype(), |T| {
                let (x, w) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "w", of[1])?);
                let dy = call.read::<T>(op, "dy", of[2])?;
                let (x, w, dy) = (x.view::<2>()?, w.view::<2>()?, dy.view::<2>()?);
                let ([m, k], n) = (x.shape(), w.shape()[0]);
                let fresh = |wanted: bool, len| if wanted { call.fresh::<T>(len).map(Some) } else { Ok(None) };
                let (mut dx, mut dw, mut db) =
                    (fresh(wanted[0], m * k)?, fresh(wanted[1], n * k)?, fresh(wanted[2], n)?);
                {
                    let [mut dx, mut dw, mut db] =
                        [&mut dx, &mut dw, &mut db].map(|of| of.as_mut().map(|of| of.write(call)));
                    let mut backward = linear_backward(x, w.transpose(), dy);
                    if let Some(dx) = &mut dx {
                        backward = backward.dx(dx.view_mut([m, k])?);
                    }
                    if let Some(dw) = &mut dw {
                        backward = backward.dw(dw.view_mut([n, k])?.transpose());
                    }
                    if let Some(db) = &mut db {
                        backward = backward.db(db.view_mut([n])?);
                    }
                    backward.launch(call.stream()).map_err(wrap)?;
                }
                Ok(vec![
                    dx.map(|dx| dx.into_tensor(call, shape)),
                    dw.map(|dw| dw.into_tensor(call, (n, k))),
                    db.map(|db| db.into_tensor(call, n)),
                ])
            })
        })?;
        if !self.has_bias {
            gradients.pop();
        }
        if self.has_residual {
            gradients.push(Some(dy.clone()));
        }
        Ok(gradients)
    }
}
