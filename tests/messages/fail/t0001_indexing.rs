//! Memory is not indexed, and a tuple is destructured by `let`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = x[n];
    let t = (1, 2);
    store(x + t.0, v, true);
    x[0] = 1.0;
}

fn main() {}
