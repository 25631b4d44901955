//! Elementwise functions on types that do not have them.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f64>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n);
    let a = floor(i);
    let b = ceil(i < n);
    let c = trunc(2);
    let d = rsqrt(n);
    let e = sin(i);
    let f = cos(v);
    store(x + i, rsqrt(trunc(v)), i < n);
}

fn main() {}
