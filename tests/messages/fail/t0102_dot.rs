//! Products of operands that do not match.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f16, 2>, b: Tensor<f32, 2>, i: Tensor<i32, 2>, out: TensorMut<f32, 2>) {
    let (x, y, z) = (a.load([0, 0], [16, 16]), b.load([0, 0], [16, 16]), i.load([0, 0], [16, 16]));
    let acc = zeros::<f32>([16, 16]);
    let p = dot(x, y, acc);
    let q = dot(x, x, zeros::<f16>([16, 16]));
    let r = dot(z, z, zeros::<i32>([16, 16]));
    let s = dot(y, b.load([0, 0], [32, 16]), acc);
    let t = dot(arange(0, 16), y, acc);
    out.store([0, 0], acc);
}

fn main() {}
