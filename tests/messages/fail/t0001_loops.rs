//! A loop ends by its range or its condition, and nowhere else.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    loop {
        store(x, 1.0, true);
    }
    for i in 0..n {
        if i > 3 {
            break;
        }
        if i > 2 {
            continue;
        }
    }
    'outer: while n > 0 {}
    'inner: for _ in 0..n {}
}

fn main() {}
