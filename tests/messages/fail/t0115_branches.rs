//! Branches that differ, and a loop that changes the type of a carried variable.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let a = if n > 0 { i } else { i.to::<i64>() };
    let mut sum = 0.0;
    for k in 0..n {
        sum += load(out + i + k, true);
    }
    store(out + i, sum, true);
}

fn main() {}
