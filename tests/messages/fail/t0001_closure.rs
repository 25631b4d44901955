//! A closure is an argument of a reduction, and nothing else; it has bare parameters and a body.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let f = |a: f32| a * 2.0;
    let i = arange(0, 64);
    let v = load(x + i, true);
    let a = reduce(v, |a: f32, b: f32| a + b);
    let b = reduce(v, move |a, b| a + b);
    let c = reduce(v, |a, b| -> f32 { a + b });
    let d = reduce(v, |mut a, b| a + b);
    let e = reduce((v, v), |(mut a, b), (c, d)| (a + c, b + d));
    let g = reduce(v, |a, [b]| a + b);
    let h = reduce(v, |a, b| {
        return a;
    });
    let j = v.reshape(|a, b| a);
    store(x, f(1.0), true);
}

fn main() {}
