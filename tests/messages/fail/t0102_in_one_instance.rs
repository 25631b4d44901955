//! An error that one instance has names the instance.
use triton::prelude::*;

#[triton::kernel(T = [f32, f16])]
fn kernel<T: Num>(x: PtrMut<T>, y: Ptr<f32>, n: i32) {
    let i = arange(0, 128);
    store(x + i, load(x + i, i < n) + load(y + i, i < n), i < n);
}

fn main() {}
