//! Numbers and tiles are values: there are no references.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let r = &n;
    store(x + *r, 1.0, true);
    *x = 2.0;
}

fn main() {}
