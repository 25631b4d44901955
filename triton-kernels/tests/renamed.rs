//! The names of the library that changed: what CHANGELOG.md says of them compiles, and runs.

#![cfg(feature = "default")]

use triton::prelude::*;
use triton_kernels::activation::{Activation, activation, gated};
use triton_kernels::attention::{attention, attention_backward};
use triton_kernels::dropout::dropout;
use triton_kernels::embedding::embedding;
use triton_kernels::linear::{column_sums, gemm_batched, gemm_grouped, gemv, linear_backward};
use triton_kernels::loss::{kl_div, mse};
use triton_kernels::norm::{layer_norm, layer_norm_backward, rms_norm, rms_norm_backward};
use triton_kernels::optim::clip_by_norm;
use triton_kernels::softmax::softmax;
use triton_kernels::{FloatElement, Ids, Result};

/// Rows of any number of axes.
fn rows<T: FloatElement>(s: &Stream) -> Result<()> {
    let zeros = || s.tensor_zeros::<T, _>([2, 3, 8]);
    let (x, r, w, b) = (zeros()?, zeros()?, s.tensor_zeros::<T, _>([8])?, s.tensor_zeros::<T, _>([8])?);
    let (mut y, mut sum, mut dx) = (zeros()?, zeros()?, zeros()?);
    let (mut mean, mut rstd) = (s.tensor_zeros::<f32, _>([2, 3])?, s.tensor_zeros::<f32, _>([2, 3])?);
    let (mut dw, mut db) = (s.tensor_zeros::<f32, _>([8])?, s.tensor_zeros::<f32, _>([8])?);
    layer_norm(&x, &w, &b, &mut y).residual(&r, &mut sum).statistics(&mut mean, &mut rstd).launch(s)?;
    layer_norm_backward(&sum, &w, &y, &mean, &rstd, &mut dx).dw(&mut dw).db(&mut db).dsum(&r).launch(s)?;
    rms_norm(&x, &w, &mut y).statistics(&mut rstd).launch(s)?;
    rms_norm_backward(&x, &w, &y, &rstd, &mut dx).dw(&mut dw).launch(s)?;
    softmax(&x, &mut y).launch(s)?;
    activation(&x, Activation::Silu, &mut y).launch(s)?;
    gated(&x, &r, Activation::Silu, &mut y).launch(s)?;
    dropout(&x, 0.5, 1, 0, &mut y).launch(s)?;
    let mut loss = s.tensor_zeros::<f32, _>([1])?;
    mse(&x, &r, &mut loss).dx(&mut dx).launch(s)?;
    kl_div(&x, &r, &mut loss).dx(&mut dx).launch(s)?;
    clip_by_norm(1.0, &mut loss).gradient(&mut dx).gradients([&mut y, &mut sum]).launch(s)?;
    column_sums(&x, &mut dw).launch(s)
}

/// The others.
fn others(s: &Stream) -> Result<()> {
    let heads = || s.tensor_zeros::<f32, _>([1, 2, 3, 16]);
    let (x, mut o, mut lse) = (heads()?, heads()?, s.tensor_zeros::<f32, _>([1, 2, 3])?);
    attention(&x, &x, &x, &mut o).window((1, 0)).causal().lse(&mut lse).launch(s)?;
    let (mut dq, mut dk, mut dv) = (heads()?, heads()?, heads()?);
    attention_backward(&x, &x, &x, &o, &lse, &x, &mut dq, &mut dk, &mut dv).launch(s)?;
    let (ends, ids) = (s.tensor(&[1, 3], [2])?, s.tensor(&[1i64, 0], [2])?);
    let (a, b) = (s.tensor_zeros::<f32, _>([3, 5])?, s.tensor_zeros::<f32, _>([2, 5, 7])?);
    gemm_grouped(&a, &b, &ends, &mut s.tensor_zeros([3, 7])?).launch(s)?;
    gemm_batched(a.reshape([1, 3, 5])?, &b, &mut s.tensor_zeros([2, 3, 7])?).launch(s)?;
    gemv(&a, b.as_view().select(2, 0)?.select(0, 0)?, &mut s.tensor_zeros([3])?).launch(s)?;
    linear_backward(&a, b.as_view().select(0, 0)?, &s.tensor_zeros::<f32, _>([3, 7])?).launch(s)?;
    assert_eq!(Ids::from(&ids).count(), 2);
    embedding(&a, &ids, &mut s.tensor_zeros([2, 5])?).launch(s)
}

#[test]
fn the_new_names_of_the_changelog_run() -> Result<()> {
    let stream = Device::cpu().stream()?;
    rows::<f32>(&stream)?;
    rows::<bf16>(&stream)?;
    others(&stream)
}
