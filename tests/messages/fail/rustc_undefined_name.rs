//! An unknown name is rustc's to report.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = laod(x, true);
    store(x, v + w, true);
}

fn main() {}
