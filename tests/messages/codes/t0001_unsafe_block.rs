//! `unsafe`, `async` and `const` blocks are not part of the language.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    unsafe {
    //~ `unsafe`: `unsafe` is not part of the kernel language [T0001]
    //~   help: remove it: only launching a kernel with raw pointers is `unsafe`
        store(x, 1.0, true);
    }
    let v = const { 2.0 };
    //~ `const`: a `const` block is not part of the kernel language [T0001]
    //~   help: write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`
    store(x, v, true);
}

fn main() {}
