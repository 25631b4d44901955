//! Calls of a function that is an argument.
use triton::prelude::*;

#[triton::function]
fn apply(x: Tile<f32>, f: impl Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
    let y = f(x, x);
    //~ `f(x, x)`: `f` takes 1 argument, 2 given [T0101]
    //~   note: in `apply`, called at t0127_called.rs:41:14
    let z = f(1.0);
    //~ `1.0`: `f` takes `Tile<f32>` here, found `float literal` [T0127]
    //~   note: in `apply`, called at t0127_called.rs:41:14
    //~   help: make a tile of a number with `full(shape, number)`
    let w = f(x.to::<f16>());
    //~ `x.to::<f16>()`: `f` takes `Tile<f32>` here, found `tile of f16[64]` [T0127]
    //~   note: in `apply`, called at t0127_called.rs:41:14
    //~   help: write `.to::<f32>()`
    let s = f + x;
    //~ `+`: cannot add `closure of 1 parameter` and `tile of f32[64]` [T0104]
    //~   note: in `apply`, called at t0127_called.rs:41:14
    //~   help: both sides are numbers or tiles
    let g = full([4], f);
    //~ `f` in column 23: a function where a value is needed [T0104]
    //~   note: in `apply`, called at t0127_called.rs:41:14
    //~   help: call it, as in `f(x)`
    f
    //~ `f`: a function that returns `Tile<f32>` yields `closure of 1 parameter` [T0115]
    //~   note: in `apply`, called at t0127_called.rs:41:14
}

#[triton::function]
fn largest(x: Tile<f32>, f: impl Fn(f32, f32) -> f32) -> f32 {
    reduce(x, f)
    //~ `f`: `reduce` takes a closure that combines two elements [T0016]
    //~   note: in `largest`, called at t0127_called.rs:42:14
    //~   help: write `|a, b| f(a, b)`
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let v = load(x + arange(0, 64), true);
    store(x, apply(v, |a| a), true);
    store(x, largest(v, |a, b| maximum(a, b)), true);
}

fn main() {}
