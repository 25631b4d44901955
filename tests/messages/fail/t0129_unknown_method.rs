//! Methods that the language does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true).squared();
    store(x, v, true);
}

fn main() {}
