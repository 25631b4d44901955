//! Views: what is passed for them, and the kernels' bodies.
#![deny(warnings)]
#![allow(unused_qualifications, reason = "a long path means the same")]
#![forbid(unsafe_code)]
use triton::prelude::*;

/// Coordinates of two types, strides, lengths, generic elements.
#[triton::kernel(T = [f32, f16], BM = [16], BN = [32])]
fn scale<T: Float, const BM: i32, const BN: i32>(
    x: Tensor<T, 2>,
    #[multiple_of(16)] bias: Tensor<f32, 1>,
    #[no_specialize] out: TensorMut<T, 2>,
    factor: T,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    if m >= x.dim(0) || x.stride(1) != 1 {
        return;
    }
    let at = m as i64;
    let v = x.load([m, n], [BM, BN]) * factor + bias.load([n.to::<i64>()], [BN]).to::<T>();
    let w = out.load([at, 0], [BM, 32]);
    for k in (0..x.dim(1)).step_by(BN) {
        out.store([m, k], v + w);
    }
    out.store([0, 0], zeros::<T>([BM, BN]));
    out.store([at * x.stride(0), 1 - at], full::<T>([BM, BN], 0.5));
}

/// A kernel over views alone.
#[triton::kernel]
fn copy(x: triton::lang::Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    out.store([program_id(0)], x.load([program_id(0)], [1]));
}

/// Launched with views by value and by reference, without `unsafe`.
fn launch(stream: &Stream) -> triton::Result<()> {
    let x = stream.zeros::<f32>(64)?;
    let mut out = stream.zeros::<f32>(64)?;
    copy(x.view([64])?, out.view_mut([64])?).launch(stream, 1)?;
    let view = x.view([64])?;
    let mut target = out.view_mut([64])?;
    for _ in 0..2 {
        copy(&view, &mut target).launch(stream, 1)?;
    }
    copy(view, &mut target).launch(stream, 1)?;
    let y = stream.zeros::<f32>(4)?;
    scale::<f32, 16, 32>(x.view([8, 8])?, y.view([4])?, out.view_mut([8, 8])?, 1.0).launch(stream, (1, 1))?;
    let mut sum = stream.zeros::<f32>(64)?;
    copy(&out.view_mut([64])?, sum.view_mut([64])?).launch(stream, 1)?;
    copy(out.view_mut([64])?, sum.view_mut([64])?).launch(stream, 1)
}

pub(crate) fn main() {
    let _ = launch;
}
