//! Attributes of parameters.
use triton::prelude::*;

#[triton::kernel]
fn kernel(
    #[multiple_of(0)] a: i32,
    //~ `#[multiple_of(0)]`: `multiple_of` takes a positive integer [T0013]
    //~   help: write `#[multiple_of(16)]`
    #[multiple_of(16)] b: f32,
    //~ `#[multiple_of(16)]`: the attribute is for pointers and integers, not for `f32` [T0013]
    #[multiple_of(12)] c: PtrMut<f32>,
    //~ `#[multiple_of(12)]`: an address is a multiple of a power of two, not of 12 [T0013]
    #[no_specialize] d: bool,
    //~ `#[no_specialize]`: the attribute is for pointers and integers, not for `bool` [T0013]
    #[aligned] e: i32,
    //~ `#[aligned]`: a kernel's parameter has no attribute `aligned` [T0013]
    //~   help: there are `#[multiple_of(16)]` and `#[no_specialize]`
    #[multiple_of] f: i32,
    //~ `#[multiple_of]`: `multiple_of` takes a positive integer [T0013]
    //~   help: write `#[multiple_of(16)]`
    #[multiple_of(4)]
    #[multiple_of(8)]
    //~ `#[multiple_of(8)]`: `#[multiple_of(..)]` is given once [T0013]
    g: i32,
) {
    store(c, b, d);
}

fn main() {}
