//! Too few arguments for a function.
use triton::prelude::*;

#[triton::function]
fn axpy(a: f32, x: Tile<f32>, y: Tile<f32>) -> Tile<f32> {
    a * x + y
}

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    store(x + i, axpy(2.0, load(x + i, true)), true);
    //~ `axpy(2.0, load(x + i, true))`: `axpy` takes 3 arguments, 2 given [T0101]
    store(x + i, sigmoid(), true);
    //~ `sigmoid()`: `sigmoid` takes 1 argument, 0 given [T0101]
    //~   help: write `sigmoid(x)`
}

fn main() {}
