//! Shapes that do not broadcast.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let j = arange(0, 64);
    let k = i + j;
    //~ `+`: cannot add `tile of i32[128]` and `tile of i32[64]` [T0103]
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
    store(x + k, 1.0, true);
}

fn main() {}
