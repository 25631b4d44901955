//! The length of `arange` is a power of two times a small odd number.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 1000);
    //~ `arange(0, 1000)`: `arange(0, 1000)` has 1000 = 125 · 8 elements: the odd factor is more than 31 [T0106]
    //~   help: take 1024 elements and mask off the rest, as in `load(p + i, i < 1000)`
    let j = arange(8, 43);
    //~ `arange(8, 43)`: `arange(8, 43)` has 35 = 35 · 1 elements: the odd factor is more than 31 [T0106]
    //~   help: take 36 elements and mask off the rest, as in `load(p + i, i < 43)`
    store(x + i, 1.0, i < n);
}

fn main() {}
