//! Arguments that a function does not take.
use triton::prelude::*;

#[triton::function]
fn shift(x: Tile<f32>, by: f32) -> Tile<f32> {
    x + by
}

#[triton::function]
fn same<T: Num>(x: Tile<T>, y: Tile<T>) -> Tile<T> {
    x + y
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>, h: PtrMut<f16>, n: i32) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(x + i, shift(1.0, 2.0), true);
    store(x + i, shift(v, n), true);
    store(x + i, shift(load(h + i, true), 2.0), true);
    store(x + i, same(v, load(h + i, true)), true);
}

fn main() {}
