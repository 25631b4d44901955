//! The condition of a constant assertion must be a compile-time constant.
use triton::prelude::*;

#[triton::kernel(BLOCK = [32])]
fn kernel<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
    const { assert!(n >= BLOCK, "enough") }
    //~ `n >= BLOCK`: the condition of `const { assert!(..) }` must be a compile-time constant [T0107]
    //~   note: found `bool`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    const { assert!(BLOCK) }
    //~ `BLOCK`: an assertion is of `bool` or a tile of `bool`, found `i32` [T0105]
    //~   help: compare, as in `i < n`
    store(x + BLOCK, 1.0, true);
}

fn main() {}
