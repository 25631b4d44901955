//! A function for kernels is a plain one.
use triton::prelude::*;

#[triton::function]
const fn constant(x: Tile<f32>) -> Tile<f32> {
//~ `const`: a function for kernels cannot be `const` [T0003]
//~   help: write a plain function: `fn name(..) -> Tile<f32> { .. }`
    x
}

#[triton::function]
unsafe fn not_safe(x: Tile<f32>) -> Tile<f32> {
//~ `unsafe`: a function for kernels cannot be `unsafe`: launching one is, if it takes raw pointers [T0003]
//~   help: write a plain function: `fn name(..) -> Tile<f32> { .. }`
    x
}

fn main() {}
