//! Functions of the library, on types that they do not take.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<i32>, d: PtrMut<f64>) {
    let i = arange(0, 64);
    store(x + i, sigmoid(load(x + i, true)), true);
    store(d + i, sigmoid(load(d + i, true)), true);
    store(x + i, select(clamp(load(x + i, true) > 0, false, true), 1, 0), true);
}

fn main() {}
