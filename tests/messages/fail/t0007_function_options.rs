//! Functions, constants and structs for kernels have no options.
use triton::prelude::*;

#[triton::function(inline)]
fn double(x: Tile<f32>) -> Tile<f32> {
    x + x
}

#[triton::constant(8)]
const EIGHT: i32 = 8;

#[triton::params(copy)]
struct Options {
    rate: f32,
}

fn main() {}
