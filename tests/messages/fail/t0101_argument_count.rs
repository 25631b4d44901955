//! Built-in functions take a fixed number of arguments.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, y: Ptr<f16>, out: PtrMut<f32>, n: i32) {
    let i = arange(0);
    let v = load(x);
    let p = program_id();
    store(out, 1.0, true, 2);
    let w = maximum(n);
}

fn main() {}
