//! An integer that no type can hold.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    let d = 340282366920938463463374607431768211456;
    //~ `340282366920938463463374607431768211456`: this integer is larger than any type can hold [T0112]
    store(x, 1.0, true);
}

fn main() {}
