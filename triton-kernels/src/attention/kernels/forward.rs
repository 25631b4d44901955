//! The kernel of attention: a loop of two products.

use super::functions::{rows, seen_from};
use triton::prelude::*;

/// o = softmax(q · kᵀ · scale) · v of the keys that are seen, and the logarithm of each row's sum of exponentials. `scale` is in powers of 2. Query head h
/// has key head h / group.
#[triton::kernel(fast_math = true, warnings = false, configs = [
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
pub(in crate::attention) fn forward<T: Float, const D: i32, const BM: i32, const BN: i32>(
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
    // The last queries first: of a causal mask they see the most keys.
    let m = (num_programs(0) - 1 - program_id(0)) * BM;
    let (head, batch) = (program_id(1), program_id(2));
    let (queries, keys) = (q.dim(2), k.dim(2));
    // Outside the loop: a division by what is not a constant would keep it from loading ahead.
    let of = head / group;
    let x = rows::<T, BM, D>(q, batch, head, m);
    // Of a scale above 0 the greatest score is that of the greatest product: the scale is part of the subtraction. Below it, products have the
    // other sign; for 0, it is so small that no score counts, and −∞ stays −∞.
    let sign = select(scale < 0.0, -1.0f32, 1.0);
    let scale = maximum(abs(scale), 1.0e-37f32);
    let start = m + keys - queries - left;
    let end = minimum(m + BM + keys - queries + right, keys);
    // Every query of the tile sees the keys from `inner` to `outer`. Where products have the other sign every block has an edge.
    let inner = select(sign < 0.0, i32::MAX, start + BM - 1);
    let outer = minimum(m + 1 + keys - queries + right, keys);
    // Where there are keys behind the last one that is seen, the last block ends with that one, and leaves out what the block before it had: what
    // no query of the tile sees is not multiplied, be it NaN.
    let last = select(end < keys, end - BN, keys);
    // Finite, so that the difference of two such is a number.
    let mut most = full([BM], f32::MIN);
    let mut total = zeros::<f32>([BM]);
    let mut acc = zeros::<f32>([BM, D]);
    for at in (maximum(start, 0)..end).step_by(BN) {
        let n = maximum(minimum(at, last), start);
        // Scores of keys that are not seen are −∞: there are some at the edges alone.
        let mut s = dot(x, rows::<T, BN, D>(k, batch, of, n).transpose(), zeros::<f32>([BM, BN]));
        if at < inner || at + BN > outer {
            let visible = seen_from::<BM, BN>(m, n, at - n, queries, keys, left, right);
            s = select(visible, s * sign, f32::NEG_INFINITY);
        }
        let next = maximum(most, max_axis(s, 1) * scale);
        let p = exp2(s * scale - next.expand_dims(1));
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
