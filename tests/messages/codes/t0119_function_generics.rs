//! Generic arguments of functions: too many, missing, and not known.
use triton::prelude::*;

#[triton::function]
fn times<T: Num, const N: i32>(x: Tile<T>) -> Tile<T> {
    x * N.to::<T>()
}

#[triton::kernel]
fn many(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, times::<f32>(load(x + i, true)), true);
    //~ `times::<f32>`: `times` takes 2 generic arguments, 1 given [T0119]
    store(x + i, times(load(x + i, true)), true);
    //~ `times`: cannot infer `N` of `times` here [T0119]
    //~   help: write `times::<..>(..)` with a value for each generic parameter
}

fn main() {}
