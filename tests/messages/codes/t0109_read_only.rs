//! Nothing is stored through a `Ptr`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, n: i32) {
    let i = arange(0, 128);
    store(x + i, 1.0, i < n);
    //~ `x + i`: a store through `Ptr`, which is read-only [T0109]
    //~   help: declare the parameter as `PtrMut<f32>`
    store(x, 1.0, true);
    //~ `x`: a store through `Ptr`, which is read-only [T0109]
    //~   help: declare the parameter as `PtrMut<f32>`
}

fn main() {}
