//! Code that is too large: it comes with a build alone, since checks make no code.
use triton::prelude::*;

#[triton::kernel(num_warps = 1)]
fn elements(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(0, 1048576);
    store(out + i, exp(load(x + i, true)), true);
    //~ `exp(load(x + i, true))`: the kernel's code is larger than 4 MiB [T0126]
    //~   note: this operation alone expands to 425981 instructions or more per thread
    //~   help: let a thread hold fewer elements: take smaller tiles, or more warps by `num_warps = ..`
}

#[triton::kernel(num_warps = 1)]
fn product(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(0, 1048576);
    let a = load(x + i, true).reshape([1024, 1024]);
    //~ `load(x + i, true)`: the kernel's code is larger than 4 MiB [T0126]
    //~   note: this operation alone expands to 425981 instructions or more per thread
    //~   help: let a thread hold fewer elements: take smaller tiles, or more warps by `num_warps = ..`
    store(out + i, dot(a, a.transpose(), a).reshape([1048576]), true);
}
