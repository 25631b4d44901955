//! Names that the language reserves, and those of Python.
use triton::prelude::*;

#[triton::function]
fn pow(x: f32, n: i32) -> f32 {
    x * n.to::<f32>()
}

#[triton::function]
fn maximum(a: f32, b: f32) -> f32 {
    a + b
}

#[triton::kernel]
fn reserved(x: PtrMut<f32>) {
    store(x, cumsum(load(x, true)), true);
}

#[triton::kernel]
fn python(x: PtrMut<f32>) {
    let y = tl.exp(load(x, true));
    store(x, y.to(tl.float32), true);
}

#[triton::kernel]
fn associated(x: PtrMut<f32>, n: i32) {
    store(x, f32::max(load(x, true), 1.0), true);
    store(x, f32::from(n), true);
    store(x, f32::powi(load(x, true), 2), true);
}

#[triton::kernel]
fn of_a_view(x: TensorMut<f32, 1>) {
    x.store([0], x.load([0], [32]).squared());
    x.fill(0.0);
}

fn main() {}
