//! A kernel is a plain function.
use triton::prelude::*;

#[triton::kernel]
async fn a(x: PtrMut<f32>) {
//~ `async`: a kernel cannot be `async`: launching one returns at once [T0003]
//~   help: a kernel is a plain function: `fn name(..) { .. }`
    store(x, 1.0, true);
}

#[triton::kernel]
const fn b(x: PtrMut<f32>) {
//~ `const`: a kernel cannot be `const` [T0003]
//~   help: a kernel is a plain function: `fn name(..) { .. }`
    store(x, 1.0, true);
}

#[triton::kernel]
unsafe fn c(x: PtrMut<f32>) {
//~ `unsafe`: a kernel cannot be `unsafe`: launching one is, if it takes raw pointers [T0003]
//~   help: a kernel is a plain function: `fn name(..) { .. }`
    store(x, 1.0, true);
}

#[triton::kernel]
extern "C" fn d(x: PtrMut<f32>) {
//~ `extern "C"`: a kernel cannot be `extern` [T0003]
//~   help: a kernel is a plain function: `fn name(..) { .. }`
    store(x, 1.0, true);
}

fn main() {}
