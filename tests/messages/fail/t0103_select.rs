//! A condition and values that have no common shape, and a shape that a tile does not broadcast to.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, select(i < 5, zeros::<f32>([32]), 2.0), true);
    store(x + i, load(x + i, true).broadcast_to([32]), true);
}

fn main() {}
