//! A struct for kernels is not generic, and its functions have no lifetimes.
use triton::prelude::*;

#[triton::params]
struct Options<T> {
//~ `<T>`: a struct for kernels has no generic parameters [T0006]
    rate: T,
}

#[triton::function]
fn with_lifetime<'a>(x: Tile<f32>) -> Tile<f32> {
//~ `'a`: the lifetime parameter `'a` is not part of the kernel language [T0006]
//~   help: remove it: nothing in a kernel is borrowed, and a launch borrows its buffers by itself
    x
}

fn main() {}
