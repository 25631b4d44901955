//! There are no strings in a kernel.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let t = "text";
    let c = 'c';
    let b = b"bytes";
}

fn main() {}
