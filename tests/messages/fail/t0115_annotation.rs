//! A value has the type of its annotation and of its variable.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v: Tile<f16> = load(x + i, i < n);
    let a: f32 = n;
    let mut b = n;
    b = 1.5;
    let mut c = load(x + i, i < n);
    c = i;
    store(x + i, c, i < n);
}

fn main() {}
