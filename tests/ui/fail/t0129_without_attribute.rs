//! A constant that only rustc knows cannot be an extent: the kernel asks for it by its hidden macro, and there is none.
use triton::prelude::*;

const WIDTH: i32 = 64;

#[triton::kernel]
fn kernel(x: PtrMut<f32>) {
    store(x + arange(0, WIDTH), 1.0, true);
}

fn main() {}
