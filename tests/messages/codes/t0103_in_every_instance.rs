//! Instances that differ in numbers alone: one error.
use triton::prelude::*;

#[triton::kernel(M = [16, 32, 64], N = [128])]
fn kernel<const M: i32, const N: i32>(x: PtrMut<i32>) {
    store(x + arange(0, M), arange(0, M) + arange(0, N), true);
    //~ `+` in column 42: cannot add `tile of i32[16]` and `tile of i32[128]` [T0103]
    //~   note: in the instance `kernel::<16, 128>` and 2 more
    //~   help: shapes broadcast from the right: extents must be equal, or one of them 1; `x.expand_dims(axis)` inserts one
}

fn main() {}
