//! A condition that is not a single `bool`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    if i < n {
        store(out + i, 1.0, true);
    }
    while n {
        store(out, 1.0, true);
    }
}

fn main() {}
