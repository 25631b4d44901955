//! A tile of more elements than there can be.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    store(x, sum(zeros::<f32>([2048, 2048])), true);
}

fn main() {}
