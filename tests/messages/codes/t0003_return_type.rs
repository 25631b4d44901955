//! A kernel returns nothing.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>) -> f32 {
//~ `-> f32`: a kernel returns nothing [T0003]
//~   help: write results through a parameter: `PtrMut<T>` with `store(..)`, or `TensorMut<T, RANK>`
    load(x, true)
}

fn main() {}
