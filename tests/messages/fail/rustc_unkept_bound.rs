//! A listed type satisfies the bounds.
use triton::prelude::*;

#[triton::kernel(T = [f32, i32])]
fn kernel<T: Float>(x: PtrMut<T>) {
    store(x, load(x, true), true);
}

fn main() {}
