//! Activations of elements, and activations that gate others.

use super::{columns, expect_shape};
use crate::call::Call;
use crate::error::wrap;
use crate::layout::ready;
use crate::operation::{Operand, Operation, Output, apply, by_float, with};
use candle_core::{D, Result, Shape, Tensor};
use triton_kernels::activation::{self as kernels, Activation};

struct Activate(Activation);

/// y = f(x), elementwise, of any rank. `f32`, `f16`, `bf16`; computed in `f32`, rounded once.
///
/// # Errors
/// For another element type.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use triton_candle::{Activation, activation};
/// # fn main() -> candle_core::Result<()> {
/// let x = Tensor::new(&[-1f32, 2.0], &Device::Cpu)?;
/// assert_eq!(activation(&x, Activation::Relu)?.to_vec1::<f32>()?, [0.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn activation(x: &Tensor, kind: Activation) -> Result<Tensor> {
    apply(Activate(kind), &[(x, 2)])
}

impl Operation for Activate {
    fn name(&self) -> &'static str {
        "activation"
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let (op, shape) = (self.name(), Shape::from(of[0].dims()));
        by_float!(op, "x", of[0].dtype(), |T| {
            let (x, mut y) = (call.read::<T>(op, "x", of[0])?, call.fresh::<T>(shape.elem_count())?);
            kernels::activation(x.view::<2>()?, self.0, y.write(call).rows_mut::<2>(&shape)?)
                .launch(call.stream())
                .map_err(wrap)?;
            Ok((y.into_output(call), shape))
        })
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (op, shape, dy) = (self.name(), of[0].shape().clone(), ready(dy, 2)?);
        with(op, &[of[0], &dy], |call, of| {
            by_float!(op, "x", of[0].dtype(), |T| {
                let (x, dy) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "dy", of[1])?);
                let mut dx = call.fresh::<T>(shape.elem_count())?;
                let (x, dy) = (x.view::<2>()?, dy.view::<2>()?);
                kernels::activation_backward(x, dy, self.0, dx.write(call).rows_mut::<2>(&shape)?)
                    .launch(call.stream())
                    .map_err(wrap)?;
                Ok(vec![Some(dx.into_tensor(call, shape))])
            })
        })
    }
}

struct Gated(Activation, &'static str);

/// y = f(x) · gate, elementwise, of tensors of one shape. `f32`, `f16`, `bf16`.
///
/// # Errors
/// For other shapes or element types.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use triton_candle::{Activation, gated};
/// # fn main() -> candle_core::Result<()> {
/// let (x, gate) = (Tensor::new(&[-1f32, 2.0], &Device::Cpu)?, Tensor::new(&[10f32, 10.0], &Device::Cpu)?);
/// assert_eq!(gated(&x, &gate, Activation::Relu)?.to_vec1::<f32>()?, [0.0, 20.0]);
/// # Ok(())
/// # }
/// ```
pub fn gated(x: &Tensor, gate: &Tensor, kind: Activation) -> Result<Tensor> {
    by_name("gated", x, gate, kind)
}

fn by_name(op: &'static str, x: &Tensor, gate: &Tensor, kind: Activation) -> Result<Tensor> {
    expect_shape(op, "gate", gate, x.dims(), "the shape of x")?;
    apply(Gated(kind, op), &[(x, 2), (gate, 2)])
}

/// The halves of the last axis.
fn halves(op: &'static str, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let width = columns(op, x)?;
    if !width.is_multiple_of(2) {
        return Err(crate::error::shape(op, "x", x.dims(), "an even last extent: the elements and their gates"));
    }
    Ok((x.narrow(D::Minus1, 0, width / 2)?, x.narrow(D::Minus1, width / 2, width / 2)?))
}

macro_rules! glus {
    ($($(#[$meta:meta])* $name:ident = $kind:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// The halves are views: neither is copied.
        ///
        /// # Errors
        /// For an odd last extent, or those of [`gated`].
        pub fn $name(x: &Tensor) -> Result<Tensor> {
            let (x, gate) = halves(stringify!($name), x)?;
            by_name(stringify!($name), &x, &gate, Activation::$kind)
        }
    )*};
}

glus! {
    /// SwiGLU: silu(the first half of the last axis) · the second.
    ///
    /// ```
    /// use candle_core::{Device, Tensor};
    /// # fn main() -> candle_core::Result<()> {
    /// let x = Tensor::new(&[0f32, 100.0, 7.0, 2.0], &Device::Cpu)?;
    /// assert_eq!(triton_candle::swiglu(&x)?.to_vec1::<f32>()?, [0.0, 200.0]);
    /// # Ok(())
    /// # }
    /// ```
    swiglu = Silu;
    /// GeGLU: gelu(the first half of the last axis) · the second.
    geglu = Gelu;
    /// ReGLU: relu(the first half of the last axis) · the second.
    reglu = Relu;
    /// GLU: sigmoid(the first half of the last axis) · the second.
    glu = Sigmoid;
}

impl Operation for Gated {
    fn name(&self) -> &'static str {
        self.1
    }

    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)> {
        let (op, shape) = (self.name(), Shape::from(of[0].dims()));
        by_float!(op, "x", of[0].dtype(), |T| {
            let (x, gate) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "gate", of[1])?);
            let mut y = call.fresh::<T>(shape.elem_count())?;
            kernels::gated(x.view::<2>()?, gate.view::<2>()?, self.0, y.write(call).rows_mut::<2>(&shape)?)
                .launch(call.stream())
                .map_err(wrap)?;
            Ok((y.into_output(call), shape))
        })
    }

    fn gradients(&self, of: &[&Tensor], _: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let (op, shape, dy) = (self.name(), of[0].shape().clone(), ready(dy, 2)?);
        with(op, &[of[0], of[1], &dy], |call, of| {
            by_float!(op, "x", of[0].dtype(), |T| {
                let (x, gate) = (call.read::<T>(op, "x", of[0])?, call.read::<T>(op, "gate", of[1])?);
                let dy = call.read::<T>(op, "dy", of[2])?;
                let (mut dx, mut dgate) = (call.fresh::<T>(shape.elem_count())?, call.fresh::<T>(shape.elem_count())?);
                {
                    let (mut dx, mut dgate) = (dx.write(call), dgate.write(call));
                    let (dx, dgate) = (dx.rows_mut::<2>(&shape)?, dgate.rows_mut::<2>(&shape)?);
                    kernels::gated_backward(x.view::<2>()?, gate.view::<2>()?, dy.view::<2>()?, self.0, dx, dgate)
                        .launch(call.stream())
                        .map_err(wrap)?;
                }
                Ok(vec![Some(dx.into_tensor(call, shape.clone())), Some(dgate.into_tensor(call, shape))])
            })
        })
    }
}
