//! rustc's errors about control flow: an unknown name is reported once.
use triton::prelude::*;

#[triton::kernel]
fn unknown(x: PtrMut<f32>, n: i32) {
    for i in 0..n {
        if i < count {
            store(x + i, 1.0, true);
        }
    }
}

fn main() {}
