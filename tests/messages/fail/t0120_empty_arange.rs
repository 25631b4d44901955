//! `arange` has elements, and they are `i32`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(4, 4);
    let j = arange(8, 4);
    let k = arange(2147483647, 2147483648);
    store(x + i, 1.0, true);
}

fn main() {}
