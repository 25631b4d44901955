//! A condition binds nothing, and a loop has no value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    if let 1 = n {
        store(x, 1.0, true);
    }
    while let true = n > 0 {}
    let v = while n > 0 {};
    store(x, for _ in 0..n {}, true);
}

fn main() {}
