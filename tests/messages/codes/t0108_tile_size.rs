//! A tile has at most 2^20 elements.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 2097152);
    //~ `arange(0, 2097152)`: a tile of 2097152 elements; the maximum is 1048576 [T0108]
    //~   help: let several programs share the work
    store(x + i, 1.0, i < n);
}

fn main() {}
