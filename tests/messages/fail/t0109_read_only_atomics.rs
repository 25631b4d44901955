//! Atomic updates of memory that is only read.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<i32>, a: Tensor<i32, 1>) {
    atomic_add(x, 1, true);
    atomic_cas(x + arange(0, 16), 1, 2);
    a.atomic_add([0], full([16], 1));
    a.atomic_cas([0], 0, full([16], 1));
}

fn main() {}
