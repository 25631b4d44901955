//! A kernel has at most 512 instances.
use triton::prelude::*;

#[triton::kernel(A = [1, 2, 3, 4, 5, 6, 7, 8, 9], B = [1, 2, 3, 4, 5, 6, 7, 8], C = [1, 2, 3, 4, 5, 6, 7, 8])]
fn kernel<const A: i32, const B: i32, const C: i32>(x: PtrMut<i32>) {
//~ `kernel`: `kernel` would have 576 instances, more than 512 [T0012]
//~   help: list fewer values, or write the combinations that are used as `configs = [(..), ..]`
    store(x, A + B + C, true);
}

fn main() {}
