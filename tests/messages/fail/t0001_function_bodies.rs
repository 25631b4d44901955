//! What is not a function for kernels, and what their bodies cannot hold.
use triton::prelude::*;

#[triton::function]
fn early(x: Tile<f32>, n: i32) -> Tile<f32> {
    if n > 0 {
        return x;
    }
    x + 1.0
}

#[triton::function]
fn matched(x: Tile<f32>, n: i32) -> Tile<f32> {
    match n {
        0 => x,
        _ => -x,
    }
}

#[triton::function]
struct NoFunction;

#[triton::constant]
fn no_constant() {}

#[triton::params]
enum NoStruct {}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, early(load(x + i, true), 1), true);
}

fn main() {}
