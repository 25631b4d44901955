//! A tile has at most 2^20 elements.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 2097152);
    store(x + i, 1.0, i < n);
}

fn main() {}
