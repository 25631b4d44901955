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
    store(x + i, scan(v, 0, |a, b| a > b), true);
    //~ `a > b`: the closure yields `bool`, `f32` is scanned [T0115]
    //~   help: yield a number of the tile's element type: convert with `.to::<..>()`
    store(x + i, scan_reverse(v, 0, |a| a), true);
    //~ `|a| a`: the closure must take two elements, found 1 [T0101]
    //~   help: write it as `|a, b| a + b`
    store(x + i, scan(v, 0, 1.0), true);
    //~ `1.0`: `scan` takes a closure that combines two elements [T0016]
    //~   help: write it as `|a, b| a + b`
    store(x + i, scan((v, i.expand_dims(0)), 0, |(a, i), (b, j)| (a + b, i + j)), true);
    //~ `(v, i.expand_dims(0))`: `scan` of shape [64] and `tile of i32[1,64]` [T0103]
    //~   help: tiles that are scanned together have the same shape
    store(x + i, scan(1.0, 0, |a, b| a + b), true);
    //~ `1.0`: `scan` scans a tile, found `float literal` [T0104]
    store(x + i, exp(|a| a), true);
    //~ `|a| a`: a closure is only allowed as an argument of `reduce`, of `scan`, or of a function that takes one [T0016]
    //~   help: bind values with `let`
    store(x + i, v.to::<f32>(1), true);
    //~ `to` in column 20: `to` takes no arguments, 1 given [T0101]
    //~   help: write `.to::<f32>()`
}

fn main() {}
