//! Values of `#[stages]`, which are known once the constants are.
use triton::prelude::*;

#[triton::kernel(MANY = [9])]
fn numbers<const MANY: i32>(out: PtrMut<f32>, n: i32) {
    #[stages(0)]
    //~ `0`: `#[stages]` takes a number from 1 to 8, not 0 [T0008]
    //~   help: write `#[stages(3)]`, or leave it out for the kernel's `num_stages`; 1 loads nothing ahead
    for i in 0..n {}
    #[stages(MANY - 20)]
    //~ `MANY - 20`: `#[stages]` takes a number from 1 to 8, not -11 [T0008]
    //~   help: write `#[stages(3)]`, or leave it out for the kernel's `num_stages`; 1 loads nothing ahead
    for i in 0..n {}
    #[stages(n)]
    //~ `n`: the number of `#[stages]` must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    for i in 0..n {}
}

fn main() {}
