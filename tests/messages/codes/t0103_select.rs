//! A condition and values that have no common shape, and a shape that a tile does not broadcast to.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, select(i < 5, zeros::<f32>([32]), 2.0), true);
    //~ `i < 5`: a condition `tile of bool[64]` for values of shape [32] [T0103]
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
    store(x + i, load(x + i, true).broadcast_to([32]), true);
    //~ `[32]`: `tile of f32[64]` does not broadcast to [32] [T0103]
    //~   help: shapes broadcast from the right; an extent stays, or grows from 1
}

fn main() {}
