//! Masks that are always true, in a kernel with warnings enabled.
#![deny(deprecated)]
use triton::prelude::*;

#[triton::kernel(BLOCK = [64, 128], warnings = true)]
fn kernel<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
    let i = arange(0, BLOCK);
    let a = load(x + i, i < 64);
    //~ `load`: warning: the mask is always true [W0002]
    //~   note: in the instance `kernel::<64>`
    //~   help: write `true`, which selects every element
    let b = load(x + i, i < BLOCK);
    //~ `load`: warning: the mask is always true [W0002]
    //~   note: in the instance `kernel::<128>`
    //~   help: write `true`, which selects every element
    store(x + i, a + b, i < n);
}

fn main() {}
