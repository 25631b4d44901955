//! The kernels of attention.
//!
//! Scores live in registers, a tile at a time, and are never stored (Dao, Fu, Ermon, Rudra and Ré, "FlashAttention: fast and memory-efficient exact
//! attention with IO-awareness", 2022, algorithms 1 and 4; Dao, "FlashAttention-2", 2023, for the order of loops). Key j is seen by query i if
//! i + shift − left ≤ j ≤ i + shift + right, where shift is the number of keys less that of queries: the last query sees the last key.

use triton::prelude::*;

/// A tile of one head: rows from `at` on.
#[triton::function]
fn rows<T: Num, const R: i32, const D: i32>(x: Tensor<T, 4>, batch: i32, head: i32, at: i32) -> Tile<T> {
    x.load([batch, head, at, 0], [1, 1, R, D]).reshape([R, D])
}

/// Which keys queries see, of queries and keys from `m` and `n` on: a bound on each side of a row, so that an element is two comparisons.
#[triton::function]
fn seen<const BM: i32, const BN: i32>(m: i32, n: i32, queries: i32, keys: i32, left: i32, right: i32) -> Tile<bool> {
    let own = m + arange(0, BM) + (keys - queries - n);
    let (first, last) = (own - left, minimum(own + right, keys - n - 1));
    let j = arange(0, BN).expand_dims(0);
    (j >= first.expand_dims(1)) & (j <= last.expand_dims(1))
}

/// o = softmax(q · kᵀ · scale) · v of the keys that are seen, and the logarithm of each row's sum of exponentials. `scale` is in powers of 2. Query head h
/// has key head h / group.
#[triton::kernel(warnings = false, configs = [
    (T = f32, D = 16, BM = 64, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 32, BM = 64, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 64, BM = 64, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 128, BM = 32, BN = 32, num_warps = 4, num_stages = 2, general = true),
    (T = f32, D = 256, BM = 32, BN = 32, num_warps = 8, num_stages = 1, general = true),
    (T = bf16, D = 16, BM = 64, BN = 64, num_warps = 4, num_stages = 3, general = true),
    (T = bf16, D = 32, BM = 64, BN = 64, num_warps = 4, num_stages = 3, general = true),
    (T = bf16, D = 64, BM = 64, BN = 128, num_warps = 4, num_stages = 2, targets = ["sm_90a"]),
    (T = bf16, D = 64, BM = 64, BN = 64, num_warps = 4, num_stages = 3, general = true),
    (T = bf16, D = 128, BM = 128, BN = 128, num_warps = 8, num_stages = 2, targets = ["sm_90a"]),
    (T = bf16, D = 128, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = bf16, D = 256, BM = 64, BN = 32, num_warps = 8, num_stages = 2, general = true),
    (T = f16, D = 16, BM = 64, BN = 64, num_warps = 4, num_stages = 3, general = true),
    (T = f16, D = 32, BM = 64, BN = 64, num_warps = 4, num_stages = 3, general = true),
    (T = f16, D = 64, BM = 64, BN = 128, num_warps = 4, num_stages = 2, targets = ["sm_90a"]),
    (T = f16, D = 64, BM = 64, BN = 64, num_warps = 4, num_stages = 3, general = true),
    (T = f16, D = 128, BM = 128, BN = 128, num_warps = 8, num_stages = 2, targets = ["sm_90a"]),
    (T = f16, D = 128, BM = 64, BN = 64, num_warps = 4, num_stages = 2, general = true),
    (T = f16, D = 256, BM = 64, BN = 32, num_warps = 8, num_stages = 2, general = true),
], tune = [BM, BN])]
pub(super) fn forward<T: Float, const D: i32, const BM: i32, const BN: i32>(
    q: Tensor<T, 4>,
    k: Tensor<T, 4>,
    v: Tensor<T, 4>,
    o: TensorMut<T, 4>,
    lse: TensorMut<f32, 3>,
    scale: f32,
    #[no_specialize] left: i32,
    #[no_specialize] right: i32,
    #[no_specialize] group: i32,
) {
    let (m, head, batch) = (program_id(0) * BM, program_id(1), program_id(2));
    let (queries, keys) = (q.dim(2), k.dim(2));
    // Outside the loop: a division by what is not a constant would keep it from loading ahead.
    let of = head / group;
    let x = rows::<T, BM, D>(q, batch, head, m);
    let first = maximum(m + keys - queries - left, 0) / BN * BN;
    let end = minimum(m + BM + keys - queries + right, keys);
    // Every query of the tile sees the keys from `inner` to `outer`.
    let inner = m + BM - 1 + keys - queries - left;
    let outer = minimum(m + 1 + keys - queries + right, keys);
    // Finite, so that the difference of two such is a number.
    let mut most = full([BM], f32::MIN);
    let mut total = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    for n in (first..end).step_by(BN) {
        // Scores, in powers of 2: those that are not seen are −∞, of which there are some at the edges alone.
        let mut s = dot(x, rows::<T, BN, D>(k, batch, of, n).transpose(), zeros::<f32>([BM, BN])) * scale;
        if n < inner || n + BN > outer {
            s = select(seen::<BM, BN>(m, n, queries, keys, left, right), s, f32::NEG_INFINITY);
        }
        let next = maximum(most, max_axis(s, 1));
        let p = exp2(s - next.expand_dims(1));
        let kept = exp2(most - next);
        total = fma(total, kept, sum_axis(p, 1));
        acc = dot(p.to::<T>(), rows::<T, BN, D>(v, batch, of, n), acc * kept.expand_dims(1));
        most = next;
    }
    // A query that sees no key gives 0.
    let divisor = select(total == 0.0, 1.0, total);
    o.store([batch, head, m, 0], (acc / divisor.expand_dims(1)).to::<T>().reshape([1, 1, BM, D]));
    // log 2.
    let sums = select(total == 0.0, f32::NEG_INFINITY, fma(most, 0.6931472f32, log(divisor)));
    lse.store([batch, head, m], sums.reshape([1, 1, BM]));
}

/// delta\[i\] = Σ o\[i, d\] · do\[i, d\].
#[triton::kernel(T = [f32, bf16, f16], targets = ["sm_80"])]
pub(super) fn inner<T: Float>(o: Tensor<T, 4>, d_o: Tensor<T, 4>, delta: TensorMut<f32, 3>) {
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
#[triton::kernel(warnings = false, configs = [
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
pub(super) fn of_keys<T: Float, const D: i32, const BM: i32, const BN: i32>(
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
#[triton::kernel(warnings = false, configs = [
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
pub(super) fn of_queries<T: Float, const D: i32, const BM: i32, const BN: i32>(
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
