//! A function that calls itself.
use triton::prelude::*;

#[triton::function]
fn forever(x: Tile<f32>) -> Tile<f32> {
    forever(x) + 1.0
    //~ `forever`: `forever` calls itself [T0015]
    //~   help: calls are inlined, so a function cannot call itself: write a loop
}

fn main() {}
