//! Shapes are compile-time constants.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, n);
    //~ `n` in column 23: a bound of `arange` must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    let p = program_id(n);
    //~ `n`: the axis of the grid must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    const C: i32 = n;
    //~ `n` in column 20: the value of a `const` must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    store(x + i, 1.0, true);
}

fn main() {}
