//! Products of operands that do not match.
use triton::prelude::*;

#[triton::kernel]
fn kernel(a: Tensor<f16, 2>, b: Tensor<f32, 2>, i: Tensor<i32, 2>, out: TensorMut<f32, 2>) {
    let (x, y, z) = (a.load([0, 0], [16, 16]), b.load([0, 0], [16, 16]), i.load([0, 0], [16, 16]));
    let acc = zeros::<f32>([16, 16]);
    let p = dot(x, y, acc);
    //~ `y`: `dot` of `tile of f16[16,16]` and `tile of f32[16,16]` [T0102]
    //~   help: there is no implicit conversion: write `.to::<f32>()` on the `f16`
    let q = dot(x, x, zeros::<f16>([16, 16]));
    //~ `zeros::<f16>([16, 16])`: products of `f16` are added in `f32`, `acc` is `tile of f16[16,16]` [T0102]
    //~   help: begin with `zeros::<f32>(..)`
    let r = dot(z, z, zeros::<i32>([16, 16]));
    //~ `z`: `dot` is not defined on `tile of i32[16,16]` [T0104]
    //~   help: it multiplies `f16`, `bf16`, `f32`, `f64` and `i8`
    let s = dot(y, b.load([0, 0], [32, 16]), acc);
    //~ `dot(y, b.load([0, 0], [32, 16]), acc)`: `dot` of `tile of f32[16,16]`, `tile of f32[32,16]` and `tile of f32[16,16]` [T0103]
    //~   help: the shapes are [M, K], [K, N] and [M, N], or [B, M, K], [B, K, N] and [B, M, N]; `b.transpose()` fits, and the product has the shape [16,32]
    let t = dot(arange(0, 16), y, acc);
    //~ `arange(0, 16)`: `dot` multiplies tiles with two axes, or batches with three, found `tile of i32[16]` [T0104]
    let sums = zeros::<f32>([2, 16, 16]);
    let u = dot(sums, zeros::<f32>([4, 16, 16]), sums);
    //~ `dot(sums, zeros::<f32>([4, 16, 16]), sums)`: `dot` of `tile of f32[2,16,16]`, `tile of f32[4,16,16]` and `tile of f32[2,16,16]` [T0103]
    //~   help: the shapes are [M, K], [K, N] and [M, N], or [B, M, K], [B, K, N] and [B, M, N]
    let v = dot(sums, y, sums);
    //~ `dot(sums, y, sums)`: `dot` of `tile of f32[2,16,16]`, `tile of f32[16,16]` and `tile of f32[2,16,16]` [T0103]
    //~   help: the shapes are [M, K], [K, N] and [M, N], or [B, M, K], [B, K, N] and [B, M, N]
    let w = dot(sums.expand_dims(0), y, acc);
    //~ `sums.expand_dims(0)`: `dot` multiplies tiles with two axes, or batches with three, found `tile of f32[1,2,16,16]` [T0104]
    out.store([0, 0], acc);
}

fn main() {}
