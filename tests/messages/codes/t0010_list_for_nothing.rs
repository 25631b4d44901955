//! A list belongs to a generic parameter.
use triton::prelude::*;

#[triton::kernel(BLOK = [1], BLOCK = [2])]
//~ `BLOK`: `misspelt` has no generic parameter `BLOK` [T0010]
//~   help: did you mean `BLOCK`?
fn misspelt<const BLOCK: i32>(x: PtrMut<i32>) {
    store(x, BLOCK, true);
}

#[triton::kernel(T = [f32])]
//~ `T`: `not_generic` has no generic parameter `T` [T0010]
fn not_generic(x: PtrMut<i32>) {
    store(x, 1, true);
}

fn main() {}
