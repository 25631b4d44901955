//! A block has no label.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    'outer: {
        store(x, 1.0, true);
    }
}

fn main() {}
