//! A constant of another type than the other operand.
use triton::prelude::*;

const SCALE: f64 = 2.0;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    store(x, load(x, true) * SCALE, true);
    store(x, load(x, true) * UNKNOWN, true);
}

fn main() {}
