//! There is no implicit conversion between element types.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n) + load(y + i, i < n);
    //~ `+` in column 32: cannot add `tile of f32[128]` and `tile of f16[128]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right, or `.to::<f16>()` on the left
    let w = load(x + i, i < n) * i;
    //~ `*`: cannot multiply `tile of f32[128]` and `tile of i32[128]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the right, or `.to::<i32>()` on the left
    let u = maximum(load(x + i, true), load(y + i, true));
    //~ `load(y + i, true)`: `maximum` of `tile of f32[128]` and `tile of f16[128]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` here
    store(out + i, v, i < n);
}

fn main() {}
