//! A block has no label.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    'outer: {
    //~ `'outer:`: a label is not part of the kernel language [T0015]
        store(x, 1.0, true);
    }
}

fn main() {}
