//! A kernel has at most 512 instances.
use triton::prelude::*;

#[triton::kernel(A = [1, 2, 3, 4, 5, 6, 7, 8, 9], B = [1, 2, 3, 4, 5, 6, 7, 8], C = [1, 2, 3, 4, 5, 6, 7, 8])]
fn kernel<const A: i32, const B: i32, const C: i32>(x: PtrMut<i32>) {
    store(x, A + B + C, true);
}

fn main() {}
