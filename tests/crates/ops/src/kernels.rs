//! Kernels that another crate launches.

use crate::{Sgd, WIDTH, gelu};
use triton::prelude::*;

/// out = gelu(x).
#[triton::kernel(T = [f32, f16])]
pub fn gelu_of<T: Float>(x: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * WIDTH + arange(0, WIDTH);
    store(out + i, gelu(load(x + i, i < n).to::<f32>()).to::<T>(), i < n);
}

/// One step of gradient descent.
#[triton::function]
pub fn step(weight: Tile<f32>, gradient: Tile<f32>, velocity: Tile<f32>, options: Sgd) -> (Tile<f32>, Tile<f32>) {
    let next = options.momentum * velocity + gradient;
    (select(options.on, weight - options.rate * next, weight), next)
}

/// The tile of a · b at (i, j), as `epilogue` makes it: kernels of other crates choose its size and what follows.
#[triton::function]
pub fn product_tile<T: Float, const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    at: (i32, i32),
    epilogue: impl Fn(Tile<f32>) -> Tile<f32>,
) -> Tile<f32> {
    let (i, j) = at;
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1).to::<i32>()).step_by(BK) {
        acc = dot(a.load([i, k], [BM, BK]), b.load([k, j], [BK, BN]), acc);
    }
    epilogue(acc)
}

/// c = a · b.
#[triton::kernel(configs = [(BM = 32, BN = 32, BK = 16)])]
pub fn product<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: TensorMut<f32, 2>,
) {
    let (i, j) = (program_id(0) * BM, program_id(1) * BN);
    c.store([i, j], product_tile::<f32, BM, BN, BK>(a, b, (i, j), |acc| acc));
}
