//! Numbers and tiles are values: there are no references.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let r = &n;
    //~ `&n`: a reference is not part of the kernel language [T0001]
    //~   help: numbers and tiles are values: write the variable itself
    store(x + *r, 1.0, true);
    //~ `*r`: `*` before a value is not part of the kernel language [T0001]
    //~   help: memory is read with `load(p + i, mask)` and written with `store(p + i, value, mask)`
    *x = 2.0;
    //~ `*x`: only a variable can be assigned to [T0001]
    //~   help: memory is written with `store(p, value, mask)`
}

fn main() {}
