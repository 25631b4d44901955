//! A built-in's name means the built-in: another function of that name is an error.
use triton::prelude::*;

fn maximum(a: f32, b: f32) -> f32 {
    a - b
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    store(x, maximum(load(x, true), 1.0), true);
}

fn main() {}
