//! There is no implicit conversion between element types.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n) + load(y + i, i < n);
    let w = load(x + i, i < n) * i;
    let u = maximum(load(x + i, true), load(y + i, true));
    store(out + i, v, i < n);
}

fn main() {}
