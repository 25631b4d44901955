//! The kernels of attention's gradients.

use super::functions::{rows, seen};
use triton::prelude::*;

/// delta\[i\] = Σ o\[i, d\] · do\[i, d\].
#[triton::kernel(T = [f32, bf16, f16], targets = ["sm_80"])]
pub(in crate::attention) fn inner<T: Float>(o: Tensor<T, 4>, d_o: Tensor<T, 4>, delta: TensorMut<f32, 3>) {
    let (m, head, batch) = (program_id(0) * 16, program_id(1), program_id(2));
    let mut sum = zeros::<f32>([16, 32]);
    for d in (0..o.dim(3)).step_by(32) {
        let (x, y) = (o.load([batch, head, m, d], [1, 1, 16, 32]), d_o.load([batch, head, m, d], [1, 1, 16, 32]));
        sum = fma(x.reshape([16, 32]).to::<f32>(), y.reshape([16, 32]).to::<f32>(), sum);
    }
    delta.store([batch, head, m], sum_axis(sum, 1).reshape([1, 1, 16]));
}

/// The probabilities of a tile, again, and the gradient of its scores before they were scaled.
#[triton::function]
fn gradients<T: Float, const BM: i32, const BN: i32, const D: i32>(
    q: Tile<T>,
    k: Tile<T>,
    v: Tile<T>,
    d_o: Tile<T>,
    lse: Tile<f32>,
    delta: Tile<f32>,
    visible: Tile<bool>,
    scale: f32,
) -> (Tile<f32>, Tile<f32>) {
    // log₂ e. A row of which nothing is seen has −∞.
    let sums = lse * 1.442695f32;
    let p = select(visible, exp2(dot(q, k.transpose(), zeros::<f32>([BM, BN])) * scale - sums.expand_dims(1)), 0.0);
    (p, p * (dot(d_o, v.transpose(), zeros::<f32>([BM, BN])) - delta.expand_dims(1)))
}

/// dk and dv of a tile of keys, over all queries that see one of them and all heads of the group.
#[triton::kernel(fast_math = true, warnings = false, configs = [
    (T = f32, D = 16, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 32, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 64, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 128, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
    (T = f32, D = 256, BM = 16, BN = 16, num_warps = 8, num_stages = 1, general = true),
    (T = bf16, D = 16, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = bf16, D = 32, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = bf16, D = 64, BM = 64, BN = 64, num_warps = 8, num_stages = 2, general = true),
    (T = bf16, D = 128, BM = 32, BN = 64, num_warps = 8, num_stages = 2, general = true),
    (T = bf16, D = 256, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
    (T = f16, D = 16, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = f16, D = 32, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = f16, D = 64, BM = 64, BN = 64, num_warps = 8, num_stages = 2, general = true),
    (T = f16, D = 128, BM = 32, BN = 64, num_warps = 8, num_stages = 2, general = true),
    (T = f16, D = 256, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
], tune = [BM, BN])]
pub(in crate::attention) fn of_keys<T: Float, const D: i32, const BM: i32, const BN: i32>(
    q: Tensor<T, 4>,
    k: Tensor<T, 4>,
    v: Tensor<T, 4>,
    d_o: Tensor<T, 4>,
    lse: Tensor<f32, 3>,
    delta: Tensor<f32, 3>,
    dk: TensorMut<T, 4>,
    dv: TensorMut<T, 4>,
    scale: f32,
    factor: f32,
    #[no_specialize] left: i32,
    #[no_specialize] right: i32,
    #[no_specialize] group: i32,
) {
    let (n, of, batch) = (program_id(0) * BN, program_id(1), program_id(2));
    let (queries, keys) = (q.dim(2), k.dim(2));
    let (key, value) = (rows::<T, BN, D>(k, batch, of, n), rows::<T, BN, D>(v, batch, of, n));
    let first = maximum(n - (keys - queries) - right, 0) / BM * BM;
    let end = minimum(n + BN - (keys - queries) + left, queries);
    let mut to_key = zeros::<f32>([BN, D]);
    let mut to_value = zeros::<f32>([BN, D]);
    for head in of * group..(of + 1) * group {
        for m in (first..end).step_by(BM) {
            let (x, dy) = (rows::<T, BM, D>(q, batch, head, m), rows::<T, BM, D>(d_o, batch, head, m));
            let sums = lse.load([batch, head, m], [1, 1, BM]).reshape([BM]);
            let inner = delta.load([batch, head, m], [1, 1, BM]).reshape([BM]);
            let visible =
                seen::<BM, BN>(m, n, queries, keys, left, right) & (m + arange(0, BM) < queries).expand_dims(1);
            let (p, ds) = gradients::<T, BM, BN, D>(x, key, value, dy, sums, inner, visible, scale);
            to_value = dot(p.to::<T>().transpose(), dy, to_value);
            to_key = dot(ds.to::<T>().transpose(), x, to_key);
        }
    }
    dk.store([batch, of, n, 0], (to_key * factor).to::<T>().reshape([1, 1, BN, D]));
    dv.store([batch, of, n, 0], to_value.to::<T>().reshape([1, 1, BN, D]));
}

/// dq of a tile of queries, over all keys that one of them sees.
#[triton::kernel(fast_math = true, warnings = false, configs = [
    (T = f32, D = 16, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 32, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 64, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 128, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
    (T = f32, D = 256, BM = 16, BN = 16, num_warps = 8, num_stages = 1, general = true),
    (T = bf16, D = 16, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = bf16, D = 32, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = bf16, D = 64, BM = 64, BN = 64, num_warps = 8, num_stages = 2, general = true),
    (T = bf16, D = 128, BM = 64, BN = 32, num_warps = 8, num_stages = 2, general = true),
    (T = bf16, D = 256, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
    (T = f16, D = 16, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = f16, D = 32, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = f16, D = 64, BM = 64, BN = 64, num_warps = 8, num_stages = 2, general = true),
    (T = f16, D = 128, BM = 64, BN = 32, num_warps = 8, num_stages = 2, general = true),
    (T = f16, D = 256, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
], tune = [BM, BN])]
pub(in crate::attention) fn of_queries<T: Float, const D: i32, const BM: i32, const BN: i32>(
    q: Tensor<T, 4>,
    k: Tensor<T, 4>,
    v: Tensor<T, 4>,
    d_o: Tensor<T, 4>,
    lse: Tensor<f32, 3>,
    delta: Tensor<f32, 3>,
    dq: TensorMut<T, 4>,
    scale: f32,
    factor: f32,
    #[no_specialize] left: i32,
    #[no_specialize] right: i32,
    #[no_specialize] group: i32,
) {
    let (m, head, batch) = (program_id(0) * BM, program_id(1), program_id(2));
    let (queries, keys) = (q.dim(2), k.dim(2));
    let of = head / group;
    let (x, dy) = (rows::<T, BM, D>(q, batch, head, m), rows::<T, BM, D>(d_o, batch, head, m));
    let sums = lse.load([batch, head, m], [1, 1, BM]).reshape([BM]);
    let inner = delta.load([batch, head, m], [1, 1, BM]).reshape([BM]);
    let first = maximum(m + keys - queries - left, 0) / BN * BN;
    let end = minimum(m + BM + keys - queries + right, keys);
    let mut acc = zeros::<f32>([BM, D]);
    for n in (first..end).step_by(BN) {
        let (key, value) = (rows::<T, BN, D>(k, batch, of, n), rows::<T, BN, D>(v, batch, of, n));
        let visible = seen::<BM, BN>(m, n, queries, keys, left, right);
        let (_, ds) = gradients::<T, BM, BN, D>(x, key, value, dy, sums, inner, visible, scale);
        acc = dot(ds.to::<T>(), key, acc);
    }
    dq.store([batch, head, m, 0], (acc * factor).to::<T>().reshape([1, 1, BM, D]));
}
