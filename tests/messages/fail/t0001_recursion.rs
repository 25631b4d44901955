//! A function that calls itself.
use triton::prelude::*;

#[triton::function]
fn forever(x: Tile<f32>) -> Tile<f32> {
    forever(x) + 1.0
}

fn main() {}
