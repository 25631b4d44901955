//! A literal fits its type.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, y: Ptr<u8>, n: i32) {
    let a: i8 = 300;
    let b = load(y, true) + 256;
    let c = n + 3000000000;
    store(x, 1.0, true);
}

fn main() {}
