//! Methods that the language does not have.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true).squared();
    //~ `squared`: `f32` has no method `squared` [T0129]
    //~   help: numbers and tiles have `to` and `bitcast`; tiles have `reshape`, `transpose`, `permute`, `expand_dims` and `broadcast_to`, too
    store(x, v, true);
}

fn main() {}
