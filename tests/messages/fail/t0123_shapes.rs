//! Shapes that a tile, or a view, does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f32, 2>, out: TensorMut<f32, 2>, n: i32) {
    let i = zeros::<f32>([4, 12]);
    let j = full([2, 2, 2, 2, 2, 2], 1.0);
    let k = arange(0, 64).reshape([4, 8]);
    let l = a.load([n], [4, 4]);
    let m = a.load([n, n], [4]);
    out.store([0, 0], arange(0, 16).to::<f32>());
}

fn main() {}
