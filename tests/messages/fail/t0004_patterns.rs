//! A parameter is a plain name.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, (a, b): (i32, i32), _: i32, mut n: i32, ref m: i32) {
    store(x, 1.0, true);
}

fn main() {}
