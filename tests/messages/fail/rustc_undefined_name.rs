//! An unknown name is rustc's to report.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    store(x, w, true);
}

fn main() {}
