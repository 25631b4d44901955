//! Products whose K is divided among programs, in one launch: the last program of a tile to arrive adds what all have summed.

use super::epilogue::{Epilogue, activated, store_tile};
use crate::functions::{batched_tile, grouped_tile};
use triton::prelude::*;

/// As [`fused`](super::fused::fused), where program (i, j, s) of a matrix sums `steps` times 32 elements of K of tile (i, j), a multiple of BK.
///
/// No program waits for another. If `ordered`, each leaves its sums in `parts`, and the last one adds them in the order of s, so that the result
/// is the same in every launch; else each adds its own to one tile of `parts`. The last one is found by counting in `done`. Both are 0 before
/// and after.
#[triton::kernel(warnings = false, configs = [
    (T = f32, C = f32, BM = 64, BN = 16, BK = 32, KL = 1, TA = false, TB = false, num_warps = 2),
    (T = f32, C = f32, BM = 64, BN = 16, BK = 32, KL = 1, TA = false, TB = true, num_warps = 2),
    (T = f32, C = f32, BM = 64, BN = 16, BK = 32, KL = 1, TA = true, TB = false, num_warps = 2),
    (T = f32, C = f32, BM = 64, BN = 32, BK = 32, KL = 1, TA = false, TB = false, num_warps = 2),
    (T = f32, C = f32, BM = 64, BN = 32, BK = 32, KL = 1, TA = true, TB = false, num_warps = 2),
    (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = false, TB = false, general = true),
    (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = false, TB = true, general = true),
    (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = true, TB = false, general = true),
    (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = true, TB = true, general = true),
    (T = f32, C = f32, BM = 64, BN = 128, BK = 16, KL = 1, TA = false, TB = false),
    (T = f32, C = f32, BM = 64, BN = 128, BK = 16, KL = 1, TA = true, TB = false),
    (T = f32, C = f32, BM = 32, BN = 32, BK = 32, KL = 1, TA = false, TB = true, num_warps = 2),
    (T = f32, C = f32, BM = 128, BN = 128, BK = 32, KL = 1, TA = false, TB = true, num_warps = 8, num_stages = 2),
    (T = f32, C = f32, BM = 32, BN = 32, BK = 64, KL = 4, TA = false, TB = true, num_stages = 3),
    (T = f32, C = f32, BM = 32, BN = 32, BK = 64, KL = 8, TA = false, TB = true, num_warps = 8, num_stages = 3),
    (T = bf16, C = bf16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4),
    (T = bf16, C = bf16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = true, num_stages = 4),
    (T = bf16, C = bf16, BM = 64, BN = 16, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4),
    (T = bf16, C = bf16, BM = 64, BN = 32, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4),
    (T = bf16, C = bf16, BM = 64, BN = 32, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4),
    (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4, general = true),
    (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = true, num_stages = 4, general = true),
    (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4, general = true),
    (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = true, num_stages = 4, general = true),
    (T = bf16, C = bf16, BM = 32, BN = 32, BK = 64, KL = 1, TA = false, TB = true, num_warps = 2, num_stages = 4),
    (T = f16, C = f16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4),
    (T = f16, C = f16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = true, num_stages = 4),
    (T = f16, C = f16, BM = 64, BN = 16, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4),
    (T = f16, C = f16, BM = 64, BN = 32, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4),
    (T = f16, C = f16, BM = 64, BN = 32, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4),
    (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4, general = true),
    (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = true, num_stages = 4, general = true),
    (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4, general = true),
    (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = true, num_stages = 4, general = true),
    (T = f16, C = f16, BM = 32, BN = 32, BK = 64, KL = 1, TA = false, TB = true, num_warps = 2, num_stages = 4),
    (T = bf16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4, general = true),
    (T = bf16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = true, num_stages = 4, general = true),
    (T = bf16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4, general = true),
    (T = bf16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = true, num_stages = 4, general = true),
    (T = f16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = false, num_stages = 4, general = true),
    (T = f16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = true, num_stages = 4, general = true),
    (T = f16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = false, num_stages = 4, general = true),
    (T = f16, C = f32, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = true, num_stages = 4, general = true),
], tune = [BM, BN, BK, KL])]
pub fn split<
    T: Float,
    C: Num,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const KL: i32,
    const TA: bool,
    const TB: bool,
>(
    a: Tensor<T, 3>,
    b: Tensor<T, 3>,
    c: TensorMut<C, 3>,
    bias: Tensor<C, 1>,
    row_bias: Tensor<C, 1>,
    residual: Tensor<C, 3>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 3>,
    parts: TensorMut<f32, 4>,
    done: TensorMut<i32, 1>,
    #[no_specialize] steps: i32,
    #[no_specialize] splits: i32,
    ordered: bool,
    options: Epilogue,
) {
    let (m, n, batch, s) = (program_id(0) * BM, program_id(1) * BN, program_id(2) / splits, program_id(2) % splits);
    let depth = if TA { a.dim(1) } else { a.dim(2) };
    let range = (s * steps * 32, minimum((s + 1) * steps * 32, depth));
    let acc = if KL > 1 {
        grouped_tile::<T, f32, BM, BN, BK, KL, TA, TB>(a, b, batch, (m, n), range)
    } else {
        batched_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, batch, (m, n), range)
    };
    let own = acc.reshape([1, 1, BM, BN]);
    if ordered {
        parts.store([batch, s, m, n], own);
    } else {
        parts.atomic_add([batch, 0, m, n], own);
    }
    let tile = (batch * num_programs(1) + program_id(1)) * num_programs(0) + program_id(0);
    let before = done.order(AcqRel).atomic_add_at([tile], 1, true);
    if before == splits - 1 {
        let mut total = zeros::<f32>([BM, BN]);
        // Four at a time: one after the other would wait for memory as often as there are parts.
        for part in (0..parts.dim(1)).step_by(4) {
            total += sum_axis(parts.load([batch, part, m, n], [1, 4, BM, BN]).reshape([4, BM, BN]), 0);
            parts.store([batch, part, m, n], zeros::<f32>([1, 4, BM, BN]));
        }
        done.store([tile], zeros::<i32>([1]));
        store_tile::<f32, C, BM, BN>(
            total,
            batch,
            (m, n),
            c,
            bias,
            row_bias,
            residual,
            row_scales,
            column_scales,
            sums,
            options,
            |v| activated(v, options),
        );
    }
}
