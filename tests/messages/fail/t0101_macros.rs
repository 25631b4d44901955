//! A condition and a message; as many values as placeholders.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    assert!();
    assert!(n > 0, "n is positive", n);
    println!("{} {}", n);
    println!("none", n, n);
    const { assert!() }
    store(x, 1.0, true);
}

fn main() {}
