//! Tiles of no type, and of two.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, zeros([64]), true);
    store(x + i, full::<f32, f32>([64], 1.0), true);
}

fn main() {}
