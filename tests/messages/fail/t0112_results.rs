//! Numbers that do not fit, and undefined results.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, y: PtrMut<i32>) {
    let i = arange(0, 64);
    store(y, 340282366920938463463374607431768211455, true);
    store(y, i32::MIN / -1, true);
    store(x + i, load(x + i, true) + 1, true);
    store(x + i, 1.0, (i < 3) & 1);
}

fn main() {}
