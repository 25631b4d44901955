//! Types of generic constants.
use triton::prelude::*;

#[triton::kernel(A = [1], B = [2], C = ['c'])]
fn kernel<const A: usize, const B: u8, const C: char>(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

fn main() {}
