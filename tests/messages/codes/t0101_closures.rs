//! Closures that do not combine two elements, arguments that are not closures, and a conversion with one.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(x, reduce(v, |a| a), true);
    //~ `|a| a`: the closure must take two elements, found 1 [T0101]
    //~   help: write it as `|a, b| a + b`
    store(x, reduce(v, 1.0), true);
    //~ `1.0`: `reduce` takes a closure that combines two elements [T0016]
    //~   help: write it as `|a, b| a + b`
    store(x, reduce(v, |a, b| a > b), true);
    //~ `a > b`: the closure yields `bool`, `f32` is reduced [T0115]
    //~   help: yield a number of the tile's element type: convert with `.to::<..>()`
    store(x + i, exp(|a| a), true);
    //~ `|a| a`: a closure is only allowed as an argument of `reduce` [T0016]
    //~   help: bind values with `let`
    store(x + i, v.to::<f32>(1), true);
    //~ `to` in column 20: `to` takes no arguments, 1 given [T0101]
    //~   help: write `.to::<f32>()`
}

fn main() {}
