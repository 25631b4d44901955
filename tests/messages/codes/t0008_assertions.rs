//! `assertions` is a `bool`.
use triton::prelude::*;

#[triton::kernel(assertions = 0)]
//~ `0`: `assertions` is `true` or `false`, not `0` [T0008]
fn kernel(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

fn main() {}
