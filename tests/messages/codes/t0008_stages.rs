//! `#[stages]` takes one number.
use triton::prelude::*;

#[triton::kernel]
fn numbers(out: PtrMut<f32>, n: i32) {
    #[stages]
    //~ `#[stages]`: `#[stages]` takes one number, from 1 to 8 [T0008]
    //~   help: write `#[stages(3)]`
    for i in 0..n {}
    #[stages(2, 3)]
    //~ `#[stages(2, 3)]`: `#[stages]` takes one number, from 1 to 8 [T0008]
    //~   help: write `#[stages(3)]`
    for i in 0..n {}
    #[stages = 2]
    //~ `#[stages = 2]`: `#[stages]` takes one number, from 1 to 8 [T0008]
    //~   help: write `#[stages(3)]`
    for i in 0..n {}
}

fn main() {}
