//! Counters and indices of types that do not match.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, a: Tensor<f32, 2>, n: i64, m: i32) {
    for i in m..n {
    //~ `n` in column 17: a range from `i32` to `i64` [T0102]
    //~   help: write `.to::<i32>()`
        store(x + i, 1.0, true);
    }
    store(x + arange(0, 16), sum_axis(a.load([0.5, 0], [16, 16]), 0), true);
    //~ `0.5`: an index of a view is `i32` or `i64`, found `float literal` [T0102]
    //~   help: write `.to::<i32>()` or `.to::<i64>()`
}

fn main() {}
