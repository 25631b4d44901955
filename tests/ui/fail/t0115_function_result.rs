//! A value of another rank than the function returns, which rustc cannot tell.
use triton::prelude::*;

#[triton::function]
fn pair(x: Tile<f32>) -> (Tile<f32>, f32) {
    let s = sum(x);
    (x, s)
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    let (a, b, c) = pair(load(x + i, true));
    store(x + i, a + b + c, true);
}

fn main() {}
