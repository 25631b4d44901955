//! Attributes go on the kernel, not in it.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    /// Documents a statement.
    let v = 1.0;
    #[cfg(debug_assertions)]
    let v = 2.0;
    store(x, v, true);
}

fn main() {}
