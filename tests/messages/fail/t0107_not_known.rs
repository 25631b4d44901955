//! Shapes are compile-time constants.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, n);
    let p = program_id(n);
    const C: i32 = n;
    store(x + i, 1.0, true);
}

fn main() {}
