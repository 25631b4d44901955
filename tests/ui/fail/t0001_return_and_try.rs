//! A kernel ends at its end.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true)?;
    store(x, v, true);
    return;
}

fn main() {}
