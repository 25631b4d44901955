//! A generic argument that only the launch knows.
use triton::prelude::*;

#[triton::function]
fn times<const N: i32>(x: Tile<f32>) -> Tile<f32> {
    x * N.to::<f32>()
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    store(x + i, times::<n>(load(x + i, true)), true);
}

fn main() {}
