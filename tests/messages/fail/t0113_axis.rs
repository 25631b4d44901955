//! A grid has three axes.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let a = program_id(3);
    let b = num_programs(-1);
    store(x + a + b, 1.0, true);
}

fn main() {}
