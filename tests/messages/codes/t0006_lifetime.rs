//! A kernel has no lifetimes.
use triton::prelude::*;

#[triton::kernel]
fn kernel<'a>(x: PtrMut<f32>) {
//~ `'a`: the lifetime parameter `'a` is not part of the kernel language [T0006]
//~   help: remove it: nothing in a kernel is borrowed, and a launch borrows its buffers by itself
    store(x, 1.0, true);
}

fn main() {}
