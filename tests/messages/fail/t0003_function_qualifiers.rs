//! A function for kernels is a plain one.
use triton::prelude::*;

#[triton::function]
const fn constant(x: Tile<f32>) -> Tile<f32> {
    x
}

#[triton::function]
unsafe fn not_safe(x: Tile<f32>) -> Tile<f32> {
    x
}

fn main() {}
