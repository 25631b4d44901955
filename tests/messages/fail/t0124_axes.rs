//! Axes that a tile does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f32, 2>, out: PtrMut<f32>) {
    let v = a.load([0, 0], [16, 16]);
    let r = sum_axis(v, 2);
    let s = sum_axis(arange(0, 16), 0);
    let t = arange(0, 16).transpose();
    let u = v.permute([0, 0]);
    let w = v.expand_dims(4);
    store(out, a.dim(2).to::<f32>(), true);
}

fn main() {}
