//! Too many elements for each thread, so that the code for them is too large; and a product that would never end.
use triton::prelude::*;

#[triton::kernel(num_warps = 1)]
fn kernel(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(0, 1048576);
    let v = load(x + i, true);
    store(out + i, exp(v), true);
}

#[triton::kernel]
fn product(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(0, 1048576);
    let a = load(x + i, true).reshape([1024, 1024]);
    store(out + i, dot(a, a.transpose(), a).reshape([1048576]), true);
}

fn main() {}
