//! Shapes that do not broadcast.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let j = arange(0, 64);
    let k = i + j;
    store(x + k, 1.0, true);
}

fn main() {}
