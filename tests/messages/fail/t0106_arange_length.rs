//! The length of `arange` is a power of two.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 100);
    let j = arange(8, 20);
    store(x + i, 1.0, i < n);
}

fn main() {}
