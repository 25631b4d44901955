//! Only `const` items are allowed inside a kernel.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    fn helper() {}
    struct S;
    static COUNT: i32 = 0;
    use std::cmp::max;
    const FINE: i32 = 4;
    store(x, 1.0, FINE > 3);
}

fn main() {}
