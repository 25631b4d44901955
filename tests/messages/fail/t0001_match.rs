//! `match` is not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = match n {
        0 => 1.0,
        _ => 2.0,
    };
    store(x, v, true);
}

fn main() {}
