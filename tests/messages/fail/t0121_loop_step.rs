//! Loops that cannot run.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32, x: f32) {
    for i in (0..n).step_by(0) {
        store(out + i, 1.0, true);
    }
    for i in (0..n).step_by(-2) {
        store(out + i, 1.0, true);
    }
    for i in 0..arange(0, 8) {
        store(out + i, 1.0, true);
    }
}

fn main() {}
