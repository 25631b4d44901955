//! Loops that cannot run.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32, x: f32) {
    for i in (0..n).step_by(0) {
    //~ `0` in column 29: a step of 0: it must be positive [T0121]
    //~   help: write a step of 1 or more
        store(out + i, 1.0, true);
    }
    for i in (0..n).step_by(-2) {
    //~ `-2`: a step of -2: it must be positive [T0121]
    //~   help: count up, and compute the descending index: `let k = hi - 1 - i;`
        store(out + i, 1.0, true);
    }
    for i in 0..arange(0, 8) {
    //~ `arange(0, 8)`: a loop counter is `i32`, `i64`, `u32` or `u64`, found `tile of i32[8]` [T0121]
    //~   help: write `lo..hi` with scalars; a tile is computed on at once, without a loop
        store(out + i, 1.0, true);
    }
}

fn main() {}
