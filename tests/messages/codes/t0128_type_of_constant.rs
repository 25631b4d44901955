//! External constants whose type cannot be inferred.
use triton::prelude::*;

const SCALE: f32 = 2.0;
const BIAS: f32 = 1.0;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let both = SCALE * BIAS;
    //~ `SCALE`: cannot infer the type of `SCALE` [T0128]
    //~   help: annotate it: `let value: f32 = SCALE;`, and use `value`
    store(x, load(x, true) + both, true);
}

fn main() {}
