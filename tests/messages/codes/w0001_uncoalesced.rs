//! Uncoalesced accesses, in a kernel with warnings enabled.
#![deny(deprecated)]
use triton::prelude::*;

#[triton::kernel(T = [f32, f16], warnings = true)]
fn columns<T: Num>(x: Ptr<T>, out: TensorMut<T, 2>, order: Ptr<i32>) {
    let i = arange(0, 64);
    let v = load(x + i * 64, true);
    //~ `load`: warning: neighbouring elements of this access are 256 bytes apart in memory [W0001]
    //~   note: uncoalesced: each of 64 elements moves up to 32 bytes for its own 4
    //~   note: in the instance `columns::<f32>` and 1 more
    //~   help: load with one axis contiguous in memory; if the tile is needed transposed, apply `.transpose()`
    let gathered = load(x + load(order + i, true), true);
    //~ `load`: warning: no neighbouring elements of this access are known to be contiguous in memory [W0001]
    //~   note: uncoalesced: each of 64 elements moves up to 32 bytes for its own 4
    //~   help: load with one axis contiguous in memory; if the tile is needed transposed, apply `.transpose()`
    out.store([0, 0], (v + gathered).reshape([64, 1]));
    //~ `store`: warning: no neighbouring elements of this access are known to be contiguous in memory [W0001]
    //~   note: uncoalesced: each of 64 elements moves up to 32 bytes for its own 4
    //~   help: load with one axis contiguous in memory; if the tile is needed transposed, apply `.transpose()`
}

/// The same without asking.
#[triton::kernel]
fn silent(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i * 64, load(x + i * 64, i < 64), true);
}

/// Rows, columns that run along memory, and few elements: nothing to say.
#[triton::kernel(warnings = true)]
fn fine(x: Tensor<f32, 2>, out: TensorMut<f32, 2>, one: PtrMut<f32>) {
    let tile = x.load([0, 0], [16, 64]);
    out.store([0, 0], tile);
    store(one + arange(0, 16) * 64, 1.0, true);
    store(one + arange(0, 64) * 0, 1.0, true);
}

fn main() {}
