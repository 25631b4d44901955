//! An error that one instance has names the instance.
use triton::prelude::*;

#[triton::kernel(T = [f32, f16])]
fn kernel<T: Num>(x: PtrMut<T>, y: Ptr<f32>, n: i32) {
    let i = arange(0, 128);
    store(x + i, load(x + i, i < n) + load(y + i, i < n), i < n);
    //~ `+` in column 37: cannot add `tile of f16[128]` and `tile of f32[128]` [T0102]
    //~   note: in the instance `kernel::<f16>`
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the left
}

fn main() {}
