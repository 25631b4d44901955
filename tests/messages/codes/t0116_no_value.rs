//! `store` has no value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = store(x, 1.0, true);
    //~ `store(x, 1.0, true)`: this call yields no value [T0116]
    store(x, store(x, 1.0, true), true);
    //~ `store(x, 1.0, true)`: this call yields no value [T0116]
}

fn main() {}
