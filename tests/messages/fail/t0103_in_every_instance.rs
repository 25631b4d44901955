//! Instances that differ in numbers alone: one error.
use triton::prelude::*;

#[triton::kernel(M = [16, 32, 64], N = [128])]
fn kernel<const M: i32, const N: i32>(x: PtrMut<i32>) {
    store(x + arange(0, M), arange(0, M) + arange(0, N), true);
}

fn main() {}
