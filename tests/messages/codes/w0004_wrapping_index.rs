//! Indices that wrap around.
#![deny(deprecated)]
use triton::prelude::*;

#[triton::kernel]
fn rows(x: Ptr<f32>, out: PtrMut<f32>, #[no_specialize] m: i32) {
    let i = (program_id(0) * 64 + arange(0, 64)) % m;
    //~ `%`: warning: an index that wraps around is not known to be contiguous, so this access is not vectorized [W0004]
    //~   note: it is where the divisor is a multiple of 16, as an integer argument without `#[no_specialize]` may be, and the index begins at one
    //~   help: mask off what is past the end, as in `load(x + i, i < n)`, or load from a view
    store(out + arange(0, 64), load(x + i, true), true);
}

/// Runs of neighbours survive where 16 divides the divisor.
#[triton::kernel]
fn specialized(x: Ptr<f32>, out: PtrMut<f32>, m: i32) {
    let i = (program_id(0) * 64 + arange(0, 64)) % m;
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
