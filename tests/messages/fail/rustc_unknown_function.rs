//! A function that rustc knows, and the language does not: the kernel's file does not have an imported one.
use std::process::id as helper;
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    store(x, helper(1.0), true);
}

fn main() {}
