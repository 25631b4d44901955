//! rustc's errors about variables: one that is not `mut`, and values that are never read.
#![deny(unused)]
use triton::prelude::*;

#[triton::kernel]
fn not_mutable(x: PtrMut<f32>, n: i32) {
    let sum = 0;
    for i in 0..n {
        sum += i;
    }
    store(x, sum as f32, true);
}

#[triton::kernel]
fn unused(x: PtrMut<f32>, n: i32) {
    let mut left = n;
    for i in 0..n {
        store(x, 1.0, true);
    }
    while n > 0 {
        let y = 1.0;
    }
    left = 0;
}

fn main() {}
