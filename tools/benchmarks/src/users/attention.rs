//! Attention as users write it: the forward pass of Triton's tutorial 06 in `f16`, by pointers and by views, over all keys and causal.

use triton::prelude::*;

/// One block of keys: the sums, the greatest scores and the totals of weights so far, corrected and added to. `scores` are scaled products,
/// as exponents of 2.
#[triton::function]
fn online<const BN: i32>(
    state: (Tile<f32>, Tile<f32>, Tile<f32>),
    scores: Tile<f32>,
    values: Tile<f16>,
) -> (Tile<f32>, Tile<f32>, Tile<f32>) {
    let (acc, m_i, l_i) = state;
    let m_ij = maximum(m_i, max_axis(scores, 1));
    let p = exp2(scores - m_ij.expand_dims(1));
    let alpha = exp2(m_i - m_ij);
    let acc = dot(p.to::<f16>(), values, acc * alpha.expand_dims(1));
    (acc, m_ij, l_i * alpha + sum_axis(p, 1))
}

/// Tutorial 06: out = softmax(q · kᵀ · scale) · v of heads of D columns, by pointers. `stride_h` and `stride_m` are those of all operands, in
/// elements; a causal row sees the keys up to its own. The tutorial's blocks divide the rows.
#[triton::kernel(configs = [
    (D = 64, BM = 128, BN = 64, CAUSAL = false, num_warps = 8, num_stages = 3),
    (D = 64, BM = 128, BN = 32, CAUSAL = false, num_warps = 4, num_stages = 4),
    (D = 64, BM = 64, BN = 64, CAUSAL = false, num_warps = 4, num_stages = 3),
    (D = 64, BM = 128, BN = 64, CAUSAL = true, num_warps = 8, num_stages = 3),
    (D = 64, BM = 128, BN = 32, CAUSAL = true, num_warps = 4, num_stages = 4),
    (D = 64, BM = 64, BN = 64, CAUSAL = true, num_warps = 4, num_stages = 3),
], tune = [D, BM, BN])]
#[allow(clippy::too_many_arguments, reason = "as in the tutorial")]
pub fn attention_pointers<const D: i32, const BM: i32, const BN: i32, const CAUSAL: bool>(
    q: Ptr<f16>,
    k: Ptr<f16>,
    v: Ptr<f16>,
    out: PtrMut<f16>,
    stride_h: i32,
    stride_m: i32,
    n_ctx: i32,
    sm_scale: f32,
) {
    let start_m = program_id(0);
    let off_h = program_id(1).to::<i64>() * stride_h.to::<i64>();
    let offs_m = start_m * BM + arange(0, BM);
    let offs_n = arange(0, BN);
    let offs_d = arange(0, D);
    let q_ptrs = q + off_h + (offs_m.expand_dims(1) * stride_m + offs_d.expand_dims(0));
    let mut k_ptrs = k + off_h + (offs_d.expand_dims(1) + offs_n.expand_dims(0) * stride_m);
    let mut v_ptrs = v + off_h + (offs_n.expand_dims(1) * stride_m + offs_d.expand_dims(0));

    let qk_scale = sm_scale * std::f32::consts::LOG2_E;
    let mut m_i = full::<f32>([BM], f32::NEG_INFINITY);
    let mut l_i = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    let q = load(q_ptrs, true);

    // The blocks of keys that every row sees, without a mask.
    let hi = if CAUSAL { start_m * BM } else { n_ctx };
    for _ in (0..hi).step_by(BN) {
        let qk = dot(q, load(k_ptrs, true), zeros::<f32>([BM, BN]));
        (acc, m_i, l_i) = online::<BN>((acc, m_i, l_i), qk * qk_scale, load(v_ptrs, true));
        k_ptrs += BN * stride_m;
        v_ptrs += BN * stride_m;
    }
    // Those on the diagonal.
    if CAUSAL {
        for start_n in (hi..hi + BM).step_by(BN) {
            let qk = dot(q, load(k_ptrs, true), zeros::<f32>([BM, BN]));
            let mask = offs_m.expand_dims(1) >= (start_n + offs_n).expand_dims(0);
            let scores = qk * qk_scale + select(mask, 0.0, -1.0e6);
            (acc, m_i, l_i) = online::<BN>((acc, m_i, l_i), scores, load(v_ptrs, true));
            k_ptrs += BN * stride_m;
            v_ptrs += BN * stride_m;
        }
    }

    let acc = acc / l_i.expand_dims(1);
    let out_ptrs = out + off_h + (offs_m.expand_dims(1) * stride_m + offs_d.expand_dims(0));
    store(out_ptrs, acc.to::<f16>(), true);
}

/// Tutorial 06 by views, of operands \[heads, rows, D\].
#[triton::kernel(configs = [
    (D = 64, BM = 128, BN = 64, CAUSAL = false, num_warps = 8, num_stages = 3),
    (D = 64, BM = 128, BN = 32, CAUSAL = false, num_warps = 4, num_stages = 4),
    (D = 64, BM = 64, BN = 64, CAUSAL = false, num_warps = 4, num_stages = 3),
    (D = 64, BM = 128, BN = 64, CAUSAL = true, num_warps = 8, num_stages = 3),
    (D = 64, BM = 128, BN = 32, CAUSAL = true, num_warps = 4, num_stages = 4),
    (D = 64, BM = 64, BN = 64, CAUSAL = true, num_warps = 4, num_stages = 3),
], tune = [D, BM, BN])]
pub fn attention_views<const D: i32, const BM: i32, const BN: i32, const CAUSAL: bool>(
    q: Tensor<f16, 3>,
    k: Tensor<f16, 3>,
    v: Tensor<f16, 3>,
    out: TensorMut<f16, 3>,
    sm_scale: f32,
) {
    let (row, head) = (program_id(0) * BM, program_id(1));
    let scale = sm_scale * std::f32::consts::LOG2_E;
    let queries = q.load([head, row, 0], [1, BM, D]).reshape([BM, D]);
    let mut m_i = full::<f32>([BM], f32::NEG_INFINITY);
    let mut l_i = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    let hi = if CAUSAL { row } else { k.dim(1) };
    for n in (0..hi).step_by(BN) {
        let keys = k.load([head, n, 0], [1, BN, D]).reshape([BN, D]);
        let values = v.load([head, n, 0], [1, BN, D]).reshape([BN, D]);
        let scores = dot(queries, keys.transpose(), zeros::<f32>([BM, BN])) * scale;
        (acc, m_i, l_i) = online::<BN>((acc, m_i, l_i), scores, values);
    }
    if CAUSAL {
        for n in (hi..hi + BM).step_by(BN) {
            let keys = k.load([head, n, 0], [1, BN, D]).reshape([BN, D]);
            let values = v.load([head, n, 0], [1, BN, D]).reshape([BN, D]);
            let scores = dot(queries, keys.transpose(), zeros::<f32>([BM, BN])) * scale;
            let is_seen = (row + arange(0, BM)).expand_dims(1) >= (n + arange(0, BN)).expand_dims(0);
            (acc, m_i, l_i) = online::<BN>((acc, m_i, l_i), select(is_seen, scores, -1.0e6), values);
        }
    }
    out.store([head, row, 0], (acc / l_i.expand_dims(1)).to::<f16>().expand_dims(0));
}
