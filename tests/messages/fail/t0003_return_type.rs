//! A kernel returns nothing.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>) -> f32 {
    load(x, true)
}

fn main() {}
