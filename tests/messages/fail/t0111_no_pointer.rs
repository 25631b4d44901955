//! Memory is reached through pointers.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(i, true);
    store(i, 1.0, true);
    store(n, 1.0, true);
    let w = load_or(n, true, 0.0);
}

fn main() {}
