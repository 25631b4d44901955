//! A condition that is not a single `bool`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    if i < n {
    //~ `i < n`: a condition is one `bool`, found `tile of bool[128]` [T0105]
    //~   help: choose element by element with `select(cond, a, b)`, load and store under a mask, or reduce it by `any` or `all`
        store(out + i, 1.0, true);
    }
    while n {
    //~ `n`: a condition is one `bool`, found `i32` [T0105]
    //~   help: compare, as in `i < n`
        store(out, 1.0, true);
    }
}

fn main() {}
