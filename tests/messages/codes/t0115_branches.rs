//! Branches that differ, and a loop that changes the type of a carried variable.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let a = if n > 0 { i } else { i.to::<i64>() };
    //~ `if n > 0 { i } else { i.to::<i64>() }`: the branches of `if` are `tile of i32[128]` and `tile of i64[128]` [T0115]
    //~   help: give both the same type and shape
    let mut sum = 0.0;
    for k in 0..n {
        sum += load(out + i + k, true);
        //~ `load(out + i + k, true)`: `sum` is `f32`, it cannot become `tile of f32[128]` [T0115]
        //~   help: a variable keeps its element type and shape: give `sum` the final one at first
    }
    store(out + i, sum, true);
}

fn main() {}
