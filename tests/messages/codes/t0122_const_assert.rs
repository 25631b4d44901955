//! Constant assertions, in one and in every instance.
use triton::prelude::*;

#[triton::kernel(T = [f32, i32], BLOCK = [64, 96, 128])]
fn some<T: Num, const BLOCK: i32>(x: PtrMut<T>) {
    const { assert!(BLOCK % 64 == 0, "BLOCK is a multiple of 64") }
    //~ `BLOCK % 64 == 0`: the assertion does not hold: BLOCK is a multiple of 64 [T0122]
    //~   note: in the instance `some::<f32, 96>` and 1 more
    store(x + BLOCK, load(x, true), true);
}

#[triton::kernel(BLOCK = [32])]
fn all<const BLOCK: i32>(x: PtrMut<f32>) {
    const HALF: i32 = BLOCK / 2;
    const { assert!(HALF >= 32) };
    //~ `HALF >= 32`: the assertion does not hold: HALF >= 32 [T0122]
    //~   note: in the instance `all::<32>`
    store(x + BLOCK, 1.0, true);
}

fn main() {}
