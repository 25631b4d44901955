//! A `for` counts upwards, through a range with both ends; a range is not a value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let r = 0..n;
    let a = [0.0; 4];
    for i in 0..=n {}
    for i in 0.. {}
    for i in ..n {}
    for i in (0..n).rev() {}
    for i in (0..n).step_by(2).step_by(3) {}
    for i in x {}
    for mut i in 0..n {}
    for (i, j) in 0..n {}
    store(x + r, 1.0, true);
}

fn main() {}
