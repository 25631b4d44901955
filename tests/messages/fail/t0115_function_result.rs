//! Values of other types than a function returns: rustc reports it, too, at the function's definition.
use triton::prelude::*;

#[triton::function]
fn half(x: Tile<f32>) -> Tile<f16> {
    x
}

#[triton::function]
fn pair(x: Tile<f32>) -> (Tile<f32>, f32) {
    let s = sum(x);
    (x, s)
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>, h: PtrMut<f16>) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(h + i, half(v), true);
    let (a, b, c) = pair(v);
    store(x + i, a + b + c, true);
}

fn main() {}
