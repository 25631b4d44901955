//! Numbers have the element types.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let a = 1usize;
    //~ `1usize`: a kernel has no numbers of type `usize` [T0018]
    //~   help: sizes are `i32` or `i64` in a kernel
    let b = 2u128;
    //~ `2u128`: a kernel has no numbers of type `u128` [T0018]
    let c = 1.5i32;
    //~ `1.5i32`: a number with a fraction cannot be of type `i32` [T0018]
    store(x, 1.0, true);
}

fn main() {}
