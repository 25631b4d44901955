//! `unroll` is of a range, in the head of a `for`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32, x: f32) {
    for i in unroll(unroll(0..3)) {}
    //~ `unroll(unroll(0..3))`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in unroll(lo..hi)`, or `for i in unroll((lo..hi).step_by(step))`
    for i in unroll(0..3).step_by(2) {}
    //~ `unroll(0..3).step_by(2)`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in lo..hi`, or `for i in (lo..hi).step_by(step)`
    for i in unroll(n) {}
    //~ `unroll(n)`: a `for` loops over a range, and over nothing else [T0015]
    //~   help: write `for i in unroll(lo..hi)`, or `for i in unroll((lo..hi).step_by(step))`
    let numbers = unroll(0..4);
    //~ `unroll(0..4)`: `unroll` stands in the head of a `for`, and nowhere else [T0015]
    //~   help: write `for i in unroll(lo..hi)`
}

fn main() {}
