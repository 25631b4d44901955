//! What cannot be converted.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let m = i.to::<bool>();
    let a = x.to::<i32>();
    let b = n as bool;
    let c = i as f32;
    store(x + i, 1.0, m);
}

fn main() {}
