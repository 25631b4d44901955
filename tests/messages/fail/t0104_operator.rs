//! Operators and functions that an element type does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n);
    let a = v & v;
    let b = !v;
    let c = sqrt(i);
    let d = (i < n) + (i < n);
    let e = v << 1;
    let f = -(i < n);
    store(x + i, v, i < n && n > 0);
}

fn main() {}
