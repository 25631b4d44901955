//! `#[stages]` is of a `for` that stays a loop.
use triton::prelude::*;

#[triton::kernel]
fn kernel(out: PtrMut<f32>, n: i32) {
    #[stages(2)]
    //~ `#[stages(2)]`: `#[stages]` is of a `for`, and of nothing else [T0017]
    //~   help: put it right before the `for`; `num_stages = ..` is for all loops of a kernel
    while n > 0 {}
    #[stages(2)]
    //~ `#[stages(2)]`: `#[stages]` is of a `for`, and of nothing else [T0017]
    //~   help: put it right before the `for`; `num_stages = ..` is for all loops of a kernel
    let i = n;
    #[stages(2)]
    //~ `#[stages(2)]`: `#[stages]` is of a loop, and nothing is left of one that is unrolled [T0017]
    //~   help: leave it out, or write the range without `unroll`
    for j in unroll(0..4) {}
    #[stages(2)]
    #[stages(3)]
    //~ `#[stages(3)]`: `#[stages]` is given twice [T0017]
    //~   help: leave one of them out
    for j in 0..n {}
    #[unroll]
    //~ `#[unroll]`: an attribute inside a kernel is not part of the kernel language [T0017]
    //~   help: put it on the kernel
    for j in 0..n {}
}

fn main() {}
