//! There are no structs in a kernel.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: PtrMut<f32>, n: i32) {
    let p = Point { x: n, y: n };
    //~ `Point { x: n, y: n }`: a struct is not part of the kernel language [T0001]
    //~   help: use a tuple
    store(x, 1.0, true);
}

fn main() {}
