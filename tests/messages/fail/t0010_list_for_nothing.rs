//! A list belongs to a generic parameter.
use triton::prelude::*;

#[triton::kernel(BLOK = [1], BLOCK = [2])]
fn misspelt<const BLOCK: i32>(x: PtrMut<i32>) {
    store(x, BLOCK, true);
}

#[triton::kernel(T = [f32])]
fn not_generic(x: PtrMut<i32>) {
    store(x, 1, true);
}

fn main() {}
