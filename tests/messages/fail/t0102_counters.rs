//! Counters and indices of types that do not match.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, a: Tensor<f32, 2>, n: i64, m: i32) {
    for i in m..n {
        store(x + i, 1.0, true);
    }
    store(x + arange(0, 16), sum_axis(a.load([0.5, 0], [16, 16]), 0), true);
}

fn main() {}
