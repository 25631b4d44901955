//! A combination that does more than combine.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, out: PtrMut<f32>, scale: f32) {
    let v = load(x + arange(0, 128), true);
    let a = reduce(v, |a, b| a + b * scale);
    let b = reduce(v, |a, b| load(x, true));
    let c = reduce((v, v), |(a, i), (b, j)| a + b);
    store(out, a + b, true);
}

fn main() {}
