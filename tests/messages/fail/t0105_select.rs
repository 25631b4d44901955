//! Conditions of `select` that are not conditions.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(x + i, select(v, 1.0, 2.0), true);
}

fn main() {}
