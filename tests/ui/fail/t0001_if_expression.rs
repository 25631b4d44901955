//! `if` is not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = if n > 0 { 1.0 } else { 2.0 };
    if n > 1 {
        store(x + i, v, true);
    }
}

fn main() {}
