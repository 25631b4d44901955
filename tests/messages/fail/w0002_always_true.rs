//! Masks that leave nothing out, in a kernel that asks for warnings.
#![deny(deprecated)]
use triton::prelude::*;

#[triton::kernel(BLOCK = [64, 128], warnings = true)]
fn kernel<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
    let i = arange(0, BLOCK);
    let a = load(x + i, i < 64);
    let b = load(x + i, i < BLOCK);
    store(x + i, a + b, i < n);
}

fn main() {}
