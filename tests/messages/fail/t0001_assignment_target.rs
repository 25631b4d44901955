//! Only variables are assigned to.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let (mut a, mut b) = (n, n);
    (a, b) = (b, a);
    _ = n;
    (a, x[0]) = (1, 2);
    let c = a = b;
    store(x, 1.0, true);
}

fn main() {}
