//! Types of the body are element types and tiles.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let a: [i32; 2] = [1, 2];
    let b: &i32 = n;
    let c: _ = n;
    let d = n as _;
    store(x, 1.0.to::<4>(), true);
}

fn main() {}
