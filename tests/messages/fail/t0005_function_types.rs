//! Types that no function for kernels takes or returns, and no struct for kernels has.
use triton::prelude::*;

#[triton::function]
fn takes(a: usize, b: &f32, c: Vec<f32>, d: Tile<String>) -> f32 {
    1.0
}

#[triton::function]
fn returns(x: Tile<f32>) -> Option<f32> {
    None
}

#[triton::params]
struct Nested {
    ok: f32,
    not: (f32, f32),
}

#[triton::params]
struct Unnamed(f32);

fn main() {}
