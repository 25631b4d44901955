//! What is not a precision is for rustc to say.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(0, 16).expand_dims(1) * 16 + arange(0, 16).expand_dims(0);
    let v = load(x + i, true);
    store(out + i, dot(v.precision(3), v, zeros::<f32>([16, 16])), true);
}

fn main() {}
