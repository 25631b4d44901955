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
