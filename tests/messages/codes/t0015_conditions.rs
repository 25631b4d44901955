//! A condition binds nothing, and a loop has no value.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    if let 1 = n {
    //~ `let`: a `let` condition is not part of the kernel language [T0015]
    //~   help: write a condition of `bool`, such as `a == b`
        store(x, 1.0, true);
    }
    while let true = n > 0 {}
    //~ `let`: a `let` condition is not part of the kernel language [T0015]
    //~   help: write a condition of `bool`, such as `a == b`
    let v = while n > 0 {};
    //~ `while`: a loop as a value is not part of the kernel language [T0015]
    //~   help: write the loop as a statement; assign its results to variables declared before it
    store(x, for _ in 0..n {}, true);
    //~ `for`: a loop as a value is not part of the kernel language [T0015]
    //~   help: write the loop as a statement; assign its results to variables declared before it
}

fn main() {}
