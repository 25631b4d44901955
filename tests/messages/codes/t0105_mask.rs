//! A mask is of `bool`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i);
    //~ `i` in column 25: a mask is `bool` or a tile of `bool`, found `tile of i32[128]` [T0105]
    //~   help: compare, as in `i < n`; `true` selects every element
    let w = select(i, v, v);
    store(x + i, v, 1);
}

fn main() {}
