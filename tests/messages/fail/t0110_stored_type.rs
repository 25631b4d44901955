//! A stored value has the type of the memory.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    store(out + i, load(y + i, i < n), i < n);
    store(out + i, i, i < n);
    let v = load_or(x + i, i < n, i);
    store(out + i, v, true);
}

fn main() {}
