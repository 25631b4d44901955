//! Operations over tensors of candle.

mod activation;
mod attention;
mod embedding;
mod linear;
mod loss;
mod norm;
mod optim;
mod rotary;
mod softmax;

pub use activation::{activation, gated, geglu, glu, reglu, swiglu};
pub use attention::{AttentionOptions, attention};
pub use embedding::embedding;
pub use linear::{LinearOptions, linear};
pub use loss::{CrossEntropyOptions, cross_entropy};
pub use norm::{layer_norm, rms_norm};
pub use optim::{AdamW, AdamWOptions};
pub use rotary::rotary;
pub use softmax::{log_softmax, softmax};

use candle_core::{Result, Tensor};

/// Checks that a tensor has a shape.
fn expect_shape(op: &'static str, operand: &'static str, x: &Tensor, expected: &[usize], why: &str) -> Result<()> {
    if x.dims() == expected {
        return Ok(());
    }
    Err(crate::error::shape(op, operand, x.dims(), &format!("{expected:?}, {why},")))
}

/// The extent of the last axis.
fn columns(op: &'static str, x: &Tensor) -> Result<usize> {
    x.dims().last().copied().ok_or_else(|| crate::error::shape(op, "x", x.dims(), "a tensor of one axis or more"))
}
