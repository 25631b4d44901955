//! A literal fits its type.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, y: Ptr<u8>, n: i32) {
    let a: i8 = 300;
    //~ `300`: 300 does not fit `i8` [T0112]
    //~   help: `i8` holds -128 to 127: take a wider type
    let b = load(y, true) + 256;
    //~ `256`: 256 does not fit `u8` [T0112]
    //~   help: `u8` holds 0 to 255: take a wider type
    let c = n + 3000000000;
    //~ `3000000000`: 3000000000 does not fit `i32` [T0112]
    //~   help: `i32` holds -2147483648 to 2147483647: take a wider type
    store(x, 1.0, true);
}

fn main() {}
