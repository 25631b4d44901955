//! Functions, constants and structs for kernels have no options.
use triton::prelude::*;

#[triton::function(inline)]
//~ `inline`: `#[triton::function]` has no options [T0007]
fn double(x: Tile<f32>) -> Tile<f32> {
    x + x
}

#[triton::constant(8)]
//~ `8`: `#[triton::constant]` has no options [T0007]
const EIGHT: i32 = 8;

#[triton::params(copy)]
//~ `copy`: `#[triton::params]` has no options [T0007]
struct Options {
    rate: f32,
}

fn main() {}
