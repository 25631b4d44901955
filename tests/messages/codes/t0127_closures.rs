//! Functions as arguments that do not fit the parameter that they are passed for.
use triton::prelude::*;

#[triton::function]
fn apply(x: Tile<f32>, f: impl Fn(Tile<f32>) -> Tile<f32>) -> Tile<f32> {
    f(f(x))
}

#[triton::function]
fn narrow(x: Tile<f32>) -> Tile<f16> {
    x.to::<f16>()
}

#[triton::function]
fn add(x: Tile<f32>, y: Tile<f32>) -> Tile<f32> {
    x + y
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let v = load(x + arange(0, 64), true);
    store(x, apply(v, |a, b| a + b), true);
    //~ `|a, b| a + b`: `apply` takes `impl Fn(Tile<f32>) -> Tile<f32>` here, found `closure of 2 parameters` [T0127]
    //~   help: pass a closure, as in `|a| ..`, or the name of such a function
    store(x, apply(v, add), true);
    //~ `add`: `apply` takes `impl Fn(Tile<f32>) -> Tile<f32>` here, found `function of 2 parameters` [T0127]
    //~   help: pass a closure, as in `|a| ..`, or the name of such a function
    store(x, apply(v, v), true);
    //~ `v` in column 23: `apply` takes `impl Fn(Tile<f32>) -> Tile<f32>` here, found `tile of f32[64]` [T0127]
    //~   help: pass a closure, as in `|a| ..`, or the name of such a function
    store(x, apply(|a| a, |a| a), true);
    //~ `|a| a`: a closure is only allowed as an argument of `reduce`, of `scan`, or of a function that takes one [T0016]
    //~   help: bind values with `let`
    store(x, apply(v, exp), true);
    //~ `exp`: `exp` is a function of the language, which cannot be passed by its name [T0016]
    //~   help: write `|x| exp(x)`
    store(x, apply(v, |a| a.to::<f16>()), true);
    //~ `a.to::<f16>()`: `f` is declared to yield `Tile<f32>`, this yields `tile of f16[64]` [T0115]
    //~   note: in `apply`, called at t0127_closures.rs:37:14
    store(x, apply(v, |a| a + 1), true);
    //~ `1`: an integer literal where `f32` is needed [T0112]
    //~   note: in `apply`, called at t0127_closures.rs:40:14
    //~   help: write `1.0`
    store(x, apply(v, narrow), true);
    //~ `narrow`: `f` is declared to yield `Tile<f32>`, this yields `tile of f16[64]` [T0115]
    //~   note: in `apply`, called at t0127_closures.rs:44:14
    store(x, add(v, |a| a), true);
    //~ `|a| a`: a closure is only allowed as an argument of `reduce`, of `scan`, or of a function that takes one [T0016]
    //~   help: bind values with `let`
}

fn main() {}
