//! `arange` has elements, and they are `i32`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(4, 4);
    //~ `arange(4, 4)`: `arange(4, 4)` is empty [T0120]
    let j = arange(8, 4);
    //~ `arange(8, 4)`: `arange(8, 4)` is empty [T0120]
    let k = arange(2147483647, 2147483648);
    //~ `arange(2147483647, 2147483648)`: `arange(2147483647, 2147483648)` does not fit `i32` [T0120]
    store(x + i, 1.0, true);
}

fn main() {}
