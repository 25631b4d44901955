//! A combination that does more than combine.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, out: PtrMut<f32>, scale: f32) {
    let v = load(x + arange(0, 128), true);
    let a = reduce(v, |a, b| a + b * scale);
    //~ `a + b * scale`: a captured value in a closure that combines two elements [T0016]
    //~   help: it may use its two parameters and constants; choose with `select`
    let b = reduce(v, |a, b| load(x, true));
    //~ `load(x, true)`: a captured value in a closure that combines two elements [T0016]
    //~   help: it may use its two parameters and constants; choose with `select`
    let c = reduce((v, v), |(a, i), (b, j)| a + b);
    //~ `a + b`: the closure yields 1, one value for each of 2 tiles is needed [T0115]
    //~   help: yield a tuple, as in `(a + c, b + d)`
    store(out, a + b, true);
}

fn main() {}
