//! The bounds of a type parameter hold in the body.
use triton::prelude::*;

#[triton::kernel(T = [f32])]
fn kernel<T: Num>(x: PtrMut<T>) {
    store(x, load(x, true) * 0.5, true);
}

fn main() {}
