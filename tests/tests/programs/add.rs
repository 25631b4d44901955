//! The first example, without a warning.
#![deny(warnings)]
use triton::prelude::*;

/// out = x + y, elementwise.
#[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

pub(crate) fn main() {}
