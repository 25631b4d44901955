//! `assertions` is a `bool`.
use triton::prelude::*;

#[triton::kernel(assertions = 0)]
//~ `0`: `assertions` is `true` or `false`, not `0` [T0008]
fn kernel(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

#[triton::kernel(fast_math = "yes")]
//~ `"yes"`: `fast_math` is `true` or `false`, not `"yes"` [T0008]
fn fast(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

fn main() {}
