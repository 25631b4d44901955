//! Macros are not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    assert!(n > 0);
    let v = vec![1.0];
    println!("{n}");
    store(x, v, true);
}

fn main() {}
