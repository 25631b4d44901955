//! A store through a read-only view, of another type, and a view where a value is needed.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    a.store([0], zeros::<f32>([16]));
    out.store([0], zeros::<f16>([16]));
    let v = a + 1.0;
}

fn main() {}
