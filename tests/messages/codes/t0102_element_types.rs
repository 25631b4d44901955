//! There is no implicit conversion between element types.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n) + load(y + i, i < n);
    //~ `+` in column 32: cannot add `tile of f32[128]` and `tile of f16[128]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right
    let w = load(x + i, i < n) * i;
    //~ `*`: cannot multiply `tile of f32[128]` and `tile of i32[128]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right, which rounds integers above 2^24
    let u = maximum(load(x + i, true), load(y + i, true));
    //~ `load(y + i, true)`: `maximum` of `tile of f32[128]` and `tile of f16[128]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the `f16`
    store(out + i, v, i < n);
}

/// What is wrong with a variable is said once.
#[triton::kernel]
fn twice(view: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let i = program_id(0).to::<u32>() * 16;
    out.store([i], view.load([i], [16]));
    //~ `i`: an index of a view is `i32` or `i64`, found `u32` [T0102]
    //~   help: write `.to::<i32>()` or `.to::<i64>()`
}

fn main() {}
