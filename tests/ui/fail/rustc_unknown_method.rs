//! An unknown method is rustc's to report.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = load(x, true).squared();
    store(x, v, true);
}

fn main() {}
