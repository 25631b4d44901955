//! Indices that wrap around.
#![deny(deprecated)]
use triton::prelude::*;

#[triton::kernel]
fn rows(x: Ptr<f32>, out: PtrMut<f32>, m: i32) {
    let i = (program_id(0) * 64 + arange(0, 64)) % m;
    //~ `%`: warning: an index that wraps around is not known to be contiguous, so this access is not vectorized [W0004]
    //~   help: mask off what is past the end, as in `load(x + i, i < n)`, or load from a view
    store(out + arange(0, 64), load(x + i, true), true);
}

/// Wrapping along another axis than the contiguous one.
#[triton::kernel]
fn fine(x: Ptr<f32>, out: PtrMut<f32>, m: i32, k: i32) {
    let i = ((program_id(0) * 16 + arange(0, 16)) % m).expand_dims(1);
    let j = arange(0, 16).expand_dims(0);
    store(out + arange(0, 16).expand_dims(1) * 16 + j, load(x + i * k + j, true), true);
}

fn main() {}
