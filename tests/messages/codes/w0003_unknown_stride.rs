//! Strides that are 1 but not known to be.
#![deny(deprecated)]
use triton::prelude::*;

#[triton::kernel(T = [f32, f16])]
fn copy<T: Num>(x: Ptr<T>, out: PtrMut<T>, row: i32, #[no_specialize] column: i32) {
    let (i, j) = (arange(0, 16).expand_dims(1), arange(0, 16).expand_dims(0));
    store(out + i * 16 + j, load(x + i * row + j * column, true), true);
    //~ `*` in column 40: warning: no stride of this access is known to be 1, so it is not vectorized [W0003]
    //~   help: leave out the stride that is 1, or load from a view, whose last axis is contiguous
}

/// A parameter that is a stride along the last axis is specialized.
#[triton::kernel]
fn specialized(x: Ptr<f32>, out: PtrMut<f32>, row: i32, column: i32) {
    let (i, j) = (arange(0, 16).expand_dims(1), arange(0, 16).expand_dims(0));
    store(out + i * 16 + j, load(x + i * row + j * column, true), true);
}

/// A stride along one axis of two, a gather, a view, and a kernel that does not want to know.
#[triton::kernel]
fn fine(x: Ptr<f32>, y: Tensor<f32, 2>, index: Ptr<i32>, out: TensorMut<f32, 2>, row: i32) {
    let (i, j) = (arange(0, 16).expand_dims(1), arange(0, 16).expand_dims(0));
    let gathered = load(x + load(index + i * 16 + j, true) * row, true);
    out.store([0, 0], load(x + i * row + j, true) + y.load([row, 0], [16, 16]) + gathered);
}

#[triton::kernel(warnings = false)]
fn silent(x: PtrMut<f32>, stride: i32) {
    store(x + arange(0, 64) * stride, 1.0, true);
}

fn main() {}
