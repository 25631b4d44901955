//! Types of generic constants.
use triton::prelude::*;

#[triton::kernel(A = [1], B = [2], C = ['c'])]
fn kernel<const A: usize, const B: u8, const C: char>(x: PtrMut<f32>) {
//~ `usize`: a generic constant cannot be of type `usize` [T0014]
//~   help: use one of `i32`, `i64`, `u32`, `u64`, `bool`
//~ `u8`: a generic constant cannot be of type `u8` [T0014]
//~   help: use one of `i32`, `i64`, `u32`, `u64`, `bool`
//~ `char`: a generic constant cannot be of type `char` [T0014]
//~   help: use one of `i32`, `i64`, `u32`, `u64`, `bool`
    store(x, 1.0, true);
}

fn main() {}
