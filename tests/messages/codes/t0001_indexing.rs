//! Memory is not indexed, and a tuple is destructured by `let`.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let v = x[n];
    //~ `x[n]`: indexing is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
    let t = (1, 2);
    store(x + t.0, v, true);
    //~ `t.0`: a field with a number is not part of the kernel language [T0001]
    //~   help: destructure a tuple with `let (a, b) = ..`
    x[0] = 1.0;
    //~ `x[0]`: only a variable can be assigned to [T0001]
    //~   help: memory is written with `store(p, value, mask)`
}

fn main() {}
