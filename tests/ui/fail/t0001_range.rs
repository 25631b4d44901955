//! A range is no value of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let r = 0..n;
    let a = [0.0; 4];
    store(x + r, 1.0, true);
}

fn main() {}
