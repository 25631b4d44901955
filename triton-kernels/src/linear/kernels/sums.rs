//! The end of the sums of columns.

use triton::prelude::*;

/// out\[n\] = the sums of `parts`, \[R, N\], over its rows, in one order. `parts` is 0 afterwards.
#[triton::kernel(deterministic = true, configs = [(R = 16, N = 128)])]
pub fn add_rows<const R: i32, const N: i32>(parts: TensorMut<f32, 2>, out: TensorMut<f32, 1>) {
    let n = program_id(0) * N;
    let mut acc = zeros::<f32>([R, N]);
    for row in (0..parts.dim(0)).step_by(R) {
        acc += parts.load([row, n], [R, N]);
        parts.store([row, n], zeros::<f32>([R, N]));
    }
    out.store([n], sum_axis(acc, 0));
}
