//! A value has the type of its annotation and of its variable.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v: Tile<f16> = load(x + i, i < n);
    //~ `load(x + i, i < n)`: this is `tile of f32[128]`, the annotation says `tile of f16` [T0115]
    //~   help: leave the annotation out, or write `.to::<f16>()`
    let a: f32 = n;
    //~ `n`: this is `i32`, the annotation says `f32` [T0115]
    //~   help: leave the annotation out, or write `.to::<f32>()`
    let mut b = n;
    b = 1.5;
    //~ `1.5`: a float literal where `i32` is needed [T0112]
    //~   help: write an integer, or convert the other side with `.to::<f32>()`
    let mut c = load(x + i, i < n);
    c = i;
    //~ `i`: `c` is `tile of f32[128]`, it cannot become `tile of i32[128]` [T0115]
    //~   help: write `.to::<f32>()`, or bind a new one with `let c = ..`
    store(x + i, c, i < n);
}

fn main() {}
