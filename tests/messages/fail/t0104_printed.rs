//! What cannot be printed, and what cannot be asserted.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, a: Tensor<f32, 1>, n: i32) {
    println!("{}", x);
    println!("{} {}", n, a);
    println!("{} {}", arange(0, 32), arange(0, 64));
    println!("{} {} {} {} {} {} {} {} {}", n, n, n, n, n, n, n, n, n);
    println!("{}", store(x, 1.0, true));
    assert!(n, "a number");
    assert!(load(x + arange(0, 32), true), "a tile of numbers");
}

fn main() {}
