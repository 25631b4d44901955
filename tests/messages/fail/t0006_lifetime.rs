//! A kernel has no lifetimes.
use triton::prelude::*;

#[triton::kernel]
fn kernel<'a>(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

fn main() {}
