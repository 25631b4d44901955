//! Promises about integers and pointers.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let i = arange(0, 128);
    let v = load(x + i, i < n);
    let a = multiple_of(v, 16);
    //~ `v`: `multiple_of` is a promise about integers and pointers, found `tile of f32[128]` [T0104]
    //~   help: write it around an index or a pointer
    let b = multiple_of(i < n, 16);
    //~ `i < n`: `multiple_of` is a promise about integers and pointers, found `tile of bool[128]` [T0104]
    //~   help: write it around an index or a pointer
    let c = max_contiguous(i, 0);
    //~ `0`: `max_contiguous` promises 0 [T0123]
    //~   help: promise a length of 1 or more
    let d = multiple_of(i, 24);
    //~ `24`: `multiple_of` promises 24 [T0123]
    //~   help: promise a power of two, such as 8
    let e = multiple_of(n, [16, 16]);
    //~ `[16, 16]`: `multiple_of` of `i32` takes a number for each axis: 1, found 2 [T0123]
    //~   help: promise something along each axis; 1 promises nothing
    let f = multiple_of(x + i.expand_dims(0), 16);
    //~ `16`: `multiple_of` of `tile of pointers to f32, [1,128]` takes a number for each axis: 2, found 1 [T0123]
    //~   help: promise something along each axis; 1 promises nothing
    let g = max_constancy(i, n);
    //~ `n` in column 30: a promise must be a compile-time constant [T0107]
    //~   note: found `i32`
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    let h = max_constancy(i, [1.5]);
    //~ `1.5`: a promise must be a compile-time constant [T0107]
    //~   help: use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`
    let j = multiple_of(i, [16], 2);
    //~ `multiple_of(i, [16], 2)`: `multiple_of` takes 2 arguments, 3 given [T0101]
    //~   help: write `multiple_of(x, multiples)`
    let k = multiple_of(n, -16);
    //~ `-16`: `multiple_of` promises -16 [T0123]
    //~   help: promise a power of two, such as 16
    store(x + multiple_of(i, 16), v, i < n);
}

fn main() {}
