//! Loops are not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    for i in 0..n {
        store(x + i, 1.0, true);
    }
    while n > 0 {}
    loop {
        break;
    }
}

fn main() {}
