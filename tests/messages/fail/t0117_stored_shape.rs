//! Values and masks broadcast to the pointers, never the other way round.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    store(x, load(x + i, i < n), true);
    store(x, 1.0, i < n);
    let v = load(x, i < n);
    let j = arange(0, 256);
    store(x + i, 1.0, j < n);
}

fn main() {}
