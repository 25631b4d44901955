//! An unknown name in a macro is reported once, at its span.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    assert!(n < limit, "n is below the limit");
    println!("{} {}", count, n + step);
    const { assert!(SIZE > 0) }
    store(x, 1.0, true);
}

fn main() {}
