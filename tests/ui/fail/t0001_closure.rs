//! Closures are not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let f = |a: f32| a * 2.0;
    store(x, f(1.0), true);
}

fn main() {}
