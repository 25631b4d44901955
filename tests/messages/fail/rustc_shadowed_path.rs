//! A path that looks like a built-in's and is another function's is an error.
use triton::prelude::*;

mod lang {
    pub fn maximum(a: f32, b: f32) -> f32 {
        a - b
    }
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    store(x, lang::maximum(load(x, true), 1.0), true);
}

fn main() {}
