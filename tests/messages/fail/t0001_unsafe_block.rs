//! `unsafe`, `async` and `const` blocks are not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    unsafe {
        store(x, 1.0, true);
    }
    let v = const { 2.0 };
    store(x, v, true);
}

fn main() {}
