//! A mask is of `bool`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i);
    let w = select(i, v, v);
    store(x + i, v, 1);
}

fn main() {}
