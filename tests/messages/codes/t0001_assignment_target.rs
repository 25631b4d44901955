//! Only variables are assigned to.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let (mut a, mut b) = (n, n);
    (a, b) = (b, a);
    _ = n;
    //~ `_`: only a variable can be assigned to [T0001]
    //~   help: write `let _ = ..`
    (a, x[0]) = (1, 2);
    //~ `x[0]`: only variables can be assigned to [T0001]
    //~   help: write `(a, b) = ..`, with `_` for a value that is not needed
    let c = a = b;
    //~ `a = b`: an assignment as a value is not part of the kernel language [T0001]
    //~   help: write it as a statement
    store(x, 1.0, true);
}

fn main() {}
