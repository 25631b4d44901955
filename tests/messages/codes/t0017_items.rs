//! Only `const` items are allowed inside a kernel.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    fn helper() {}
    //~ `fn helper()`: a function inside a kernel is not part of the kernel language [T0017]
    //~   help: only `const` items are allowed inside a kernel
    struct S;
    //~ `struct`: a `struct` inside a kernel is not part of the kernel language [T0017]
    //~   help: only `const` items are allowed inside a kernel
    static COUNT: i32 = 0;
    //~ `static`: a `static` is not part of the kernel language [T0017]
    //~   help: only `const` items are allowed inside a kernel
    use std::cmp::max;
    //~ `use`: a `use` inside a kernel is not part of the kernel language [T0017]
    //~   help: move it above the kernel
    const FINE: i32 = 4;
    store(x, 1.0, FINE > 3);
}

fn main() {}
