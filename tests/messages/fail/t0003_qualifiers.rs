//! A kernel is a plain function.
use triton::prelude::*;

#[triton::kernel]
async fn a(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

#[triton::kernel]
const fn b(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

#[triton::kernel]
unsafe fn c(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

#[triton::kernel]
extern "C" fn d(x: PtrMut<f32>) {
    store(x, 1.0, true);
}

fn main() {}
