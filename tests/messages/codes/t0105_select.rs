//! Conditions of `select` that are not conditions.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(x + i, select(v, 1.0, 2.0), true);
    //~ `v`: a condition is `bool` or a tile of `bool`, found `tile of f32[64]` [T0105]
    //~   help: compare, as in `x > 0.0`
}

fn main() {}
