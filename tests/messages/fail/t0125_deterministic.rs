//! Programs add to memory in an unspecified order, which shows in sums of floats.
use triton::prelude::*;

#[triton::kernel(deterministic = true)]
fn kernel(x: PtrMut<f32>, n: PtrMut<i32>, view: TensorMut<f64, 1>) {
    atomic_add(n, 1, true);
    atomic_add(x, 1.0, true);
    view.atomic_add([0], full::<f64>([8], 1.0));
}

fn main() {}
