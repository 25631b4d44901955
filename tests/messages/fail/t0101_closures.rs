//! Closures that do not combine two elements, arguments that are not closures, and a conversion with one.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(x, reduce(v, |a| a), true);
    store(x, reduce(v, 1.0), true);
    store(x, reduce(v, |a, b| a > b), true);
    store(x + i, exp(|a| a), true);
    store(x + i, v.to::<f32>(1), true);
}

fn main() {}
