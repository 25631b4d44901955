//! Nothing is stored through a `Ptr`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, n: i32) {
    let i = arange(0, 128);
    store(x + i, 1.0, i < n);
    store(x, 1.0, true);
}

fn main() {}
