//! What cannot be converted.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let m = i.to::<bool>();
    //~ `i`: `tile of i32[128]` cannot be converted to `bool` [T0114]
    //~   help: compare it, as in `x != 0`
    let a = x.to::<i32>();
    //~ `x`: `pointer to f32` cannot be converted to `i32` [T0114]
    let b = n as bool;
    //~ `n`: `i32` cannot be converted to `bool` [T0114]
    //~   help: compare it, as in `x != 0`
    let c = i as f32;
    //~ `i as f32`: `as` converts scalars, this is `tile of i32[128]` [T0114]
    //~   help: write `.to::<f32>()`
    store(x + i, 1.0, m);
}

fn main() {}
