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
    //~ `1.0`: `shift` takes `Tile<f32>` here, found `float literal` [T0127]
    //~   help: make a tile of a number with `full(shape, number)`
    store(x + i, shift(v, n), true);
    //~ `n`: `shift` takes `f32` here, found `i32` [T0127]
    //~   help: write `.to::<f32>()`
    store(x + i, shift(load(h + i, true), 2.0), true);
    //~ `load(h + i, true)`: `shift` takes `Tile<f32>` here, found `tile of f16[64]` [T0127]
    //~   help: write `.to::<f32>()`
    store(x + i, same(v, load(h + i, true)), true);
    //~ `load(h + i, true)`: `same` takes `Tile<T>` here, found `tile of f16[64]` [T0127]
    //~   note: `T` is `f32` in this call
    //~   help: write `.to::<f32>()`
}

fn main() {}
