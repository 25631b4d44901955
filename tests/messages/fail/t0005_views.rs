//! A view has an element type, and a number of axes from one to five, as a literal.
use triton::prelude::*;

#[triton::kernel(N = [2])]
fn kernel<const N: i32>(
    a: Tensor<f32, 0>,
    b: TensorMut<f32, 6>,
    c: Tensor<f32>,
    d: TensorMut,
    e: Tensor<f32, N>,
    f: Tensor<f32, { 1 + 1 }>,
    g: Tensor<usize, 2>,
    h: TensorMut<[f32; 2], 2>,
    i: Tensor<2, f32>,
    j: &Tensor<f32, 2>,
    k: Tensor<String, 9>,
    l: Ptr<f32>,
) {
    h.store([0, 0], a.load([0], [16]));
}

fn main() {}
