//! What a parameter can be.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: usize, b: &[f32], c: Vec<f32>, d: Tile<f32>, e: Ptr<usize>, f: Ptr, g: (i32, i32), h: Ptr<f32, 2>, i: u128, z: PtrMut<f32>) {
    store(a, 1.0, true);
}

fn main() {}
