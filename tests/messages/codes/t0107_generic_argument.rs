//! A generic argument that only the launch knows.
use triton::prelude::*;

#[triton::function]
fn times<const N: i32>(x: Tile<f32>) -> Tile<f32> {
    x * N.to::<f32>()
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 64);
    store(x + i, times::<n>(load(x + i, true)), true);
    //~ `n`: a generic argument must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
}

fn main() {}
