//! Memory is reached through pointers.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(i, true);
    //~ `i`: `load` needs a pointer or a tile of pointers, found `tile of i32[128]` [T0111]
    //~   help: write `pointer + index`
    store(i, 1.0, true);
    //~ `i`: `store` needs a pointer or a tile of pointers, found `tile of i32[128]` [T0111]
    //~   help: write `pointer + index`
    store(n, 1.0, true);
    //~ `n`: `store` needs a pointer or a tile of pointers, found `i32` [T0111]
    //~   help: write `pointer + index`
    let w = load_or(n, true, 0.0);
    //~ `n`: `load` needs a pointer or a tile of pointers, found `i32` [T0111]
    //~   help: write `pointer + index`
}

fn main() {}
