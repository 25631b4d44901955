//! The condition of a constant assertion must be a compile-time constant.
use triton::prelude::*;

#[triton::kernel(BLOCK = [32])]
fn kernel<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
    const { assert!(n >= BLOCK, "enough") }
    const { assert!(BLOCK) }
    store(x + BLOCK, 1.0, true);
}

fn main() {}
