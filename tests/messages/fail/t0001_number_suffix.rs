//! Numbers have the element types.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let a = 1usize;
    let b = 2u128;
    let c = 1.5i32;
    store(x, 1.0, true);
}

fn main() {}
