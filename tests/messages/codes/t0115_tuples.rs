//! Branches with different numbers of values.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<i32>, n: i32) {
    let (a, b) = if n > 0 { (n, 1) } else { (n, 1, 2) };
    //~ `if n > 0 { (n, 1) } else { (n, 1, 2) }`: the branches of `if` have 2 and 3 values [T0115]
    //~   help: give both the same number of values
    store(x, a + b, true);
}

fn main() {}
