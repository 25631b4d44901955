//! A function that rustc knows, and the language does not.
use triton::prelude::*;

fn helper(v: f32) -> f32 {
    v
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    store(x, helper(1.0), true);
}

fn main() {}
