//! A struct for kernels is not generic, and its functions have no lifetimes.
use triton::prelude::*;

#[triton::params]
struct Options<T> {
    rate: T,
}

#[triton::function]
fn with_lifetime<'a>(x: Tile<f32>) -> Tile<f32> {
    x
}

fn main() {}
