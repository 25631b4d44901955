//! Options that do not exist, or are given twice.
use triton::prelude::*;

#[triton::kernel(num_wraps = 8)]
fn misspelt(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(speed = 9)]
fn unknown(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(num_warps = 8, num_warps = 4)]
fn twice(x: PtrMut<f32>, n: i32) {
    store(x, 1.0, true);
}

#[triton::kernel(configs = [(B = 1, num_warp = 4), (B = 2, B = 3)])]
fn in_configs<const B: i32>(x: PtrMut<i32>) {
    store(x, B, true);
}

#[triton::kernel(B = [1, 2], configs = [(B = 1, num_warps = 4)])]
fn list_and_configs<const B: i32>(x: PtrMut<i32>) {
    store(x, B, true);
}

fn main() {}
