//! The length of `arange` is a power of two.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 100);
    //~ `arange(0, 100)`: `arange(0, 100)` has 100 elements, which is not a power of two [T0106]
    //~   help: take 128 elements and mask off the rest, as in `load(p + i, i < 100)`
    let j = arange(8, 20);
    //~ `arange(8, 20)`: `arange(8, 20)` has 12 elements, which is not a power of two [T0106]
    //~   help: take 16 elements and mask off the rest, as in `load(p + i, i < 20)`
    store(x + i, 1.0, i < n);
}

fn main() {}
