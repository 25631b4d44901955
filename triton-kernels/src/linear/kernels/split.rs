//! Products whose K is divided among programs, in one launch: the last program of a tile to arrive adds what all have summed.

use super::epilogue::{Epilogue, activated, store_tile};
use crate::functions::{added_parts, gemm_tile, grouped_gemm_tile, last_to_arrive};
use triton::prelude::*;

crate::__split_instances! {
    [BM, BN, BK, KL]
    [
        (T = f32, C = f32, BM = 64, BN = 16, BK = 32, KL = 1, TA = false, TB = false, FUSED = false, num_warps = 2),
        (T = f32, C = f32, BM = 64, BN = 16, BK = 32, KL = 1, TA = false, TB = true, FUSED = false, num_warps = 2),
        (T = f32, C = f32, BM = 64, BN = 16, BK = 32, KL = 1, TA = true, TB = false, FUSED = false, num_warps = 2),
        (T = f32, C = f32, BM = 64, BN = 32, BK = 32, KL = 1, TA = false, TB = false, FUSED = false, num_warps = 2),
        (T = f32, C = f32, BM = 64, BN = 32, BK = 32, KL = 1, TA = true, TB = false, FUSED = false, num_warps = 2),
        (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = false, TB = false, FUSED = false, general = true),
        (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = false, TB = true, FUSED = false, general = true),
        (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = true, TB = false, FUSED = false, general = true),
        (T = f32, C = f32, BM = 64, BN = 64, BK = 32, KL = 1, TA = true, TB = true, FUSED = false, general = true),
        (T = f32, C = f32, BM = 64, BN = 128, BK = 16, KL = 1, TA = false, TB = false, FUSED = false),
        (T = f32, C = f32, BM = 64, BN = 128, BK = 16, KL = 1, TA = true, TB = false, FUSED = false),
        (T = f32, C = f32, BM = 32, BN = 32, BK = 32, KL = 1, TA = false, TB = true, FUSED = false, num_warps = 2),
        (T = f32, C = f32, BM = 128, BN = 128, BK = 32, KL = 1, TA = false, TB = true, FUSED = false, num_warps = 8, num_stages = 2),
        (T = f32, C = f32, BM = 32, BN = 32, BK = 64, KL = 4, TA = false, TB = true, FUSED = false, num_stages = 3),
        (T = f32, C = f32, BM = 32, BN = 32, BK = 64, KL = 8, TA = false, TB = true, FUSED = false, num_warps = 8, num_stages = 3),
        (T = bf16, C = bf16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = false, FUSED = false, num_stages = 4),
        (T = bf16, C = bf16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = true, FUSED = false, num_stages = 4),
        (T = bf16, C = bf16, BM = 64, BN = 16, BK = 64, KL = 1, TA = true, TB = false, FUSED = false, num_stages = 4),
        (T = bf16, C = bf16, BM = 64, BN = 32, BK = 64, KL = 1, TA = false, TB = false, FUSED = false, num_stages = 4),
        (T = bf16, C = bf16, BM = 64, BN = 32, BK = 64, KL = 1, TA = true, TB = false, FUSED = false, num_stages = 4),
        (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = false, FUSED = false, num_stages = 4, general = true),
        (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = true, FUSED = false, num_stages = 4, general = true),
        (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = false, FUSED = false, num_stages = 4, general = true),
        (T = bf16, C = bf16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = true, FUSED = false, num_stages = 4, general = true),
        (T = bf16, C = bf16, BM = 32, BN = 32, BK = 64, KL = 1, TA = false, TB = true, FUSED = false, num_warps = 2, num_stages = 4),
        wide(T = bf16, C = f32, KL = 1, FUSED = true,)
        (T = f16, C = f16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = false, FUSED = false, num_stages = 4),
        (T = f16, C = f16, BM = 64, BN = 16, BK = 64, KL = 1, TA = false, TB = true, FUSED = false, num_stages = 4),
        (T = f16, C = f16, BM = 64, BN = 16, BK = 64, KL = 1, TA = true, TB = false, FUSED = false, num_stages = 4),
        (T = f16, C = f16, BM = 64, BN = 32, BK = 64, KL = 1, TA = false, TB = false, FUSED = false, num_stages = 4),
        (T = f16, C = f16, BM = 64, BN = 32, BK = 64, KL = 1, TA = true, TB = false, FUSED = false, num_stages = 4),
        (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = false, FUSED = false, num_stages = 4, general = true),
        (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = false, TB = true, FUSED = false, num_stages = 4, general = true),
        (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = false, FUSED = false, num_stages = 4, general = true),
        (T = f16, C = f16, BM = 64, BN = 64, BK = 64, KL = 1, TA = true, TB = true, FUSED = false, num_stages = 4, general = true),
        (T = f16, C = f16, BM = 32, BN = 32, BK = 64, KL = 1, TA = false, TB = true, FUSED = false, num_warps = 2, num_stages = 4),
        wide(T = f16, C = f32, KL = 1, FUSED = true,)
        single(T = f32, C = f32, KL = 1, FUSED = true,)
        half(T = bf16, C = bf16, KL = 1, FUSED = true,)
        half(T = f16, C = f16, KL = 1, FUSED = true,)
    ]

    /// As [`product`](super::whole::product), if FUSED as [`fused`](super::fused::fused), where program (i, j, s) sums `steps` times 32 elements of K of tile (i, j), a multiple of BK.
    ///
    /// No program waits for another. If `ordered`, each leaves its sums in `parts`, and the last one adds them in the order of s, so that the result
    /// is the same in every launch; else each adds its own to one tile of `parts`. The last one is found by counting in `done`. Both are 0 before
    /// and after.
    pub fn split<
        T: Float,
        C: Float,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const KL: i32,
        const TA: bool,
        const TB: bool,
        const FUSED: bool,
    >(
        a: Tensor<T, 2>,
        b: Tensor<T, 2>,
        c: TensorMut<C, 2>,
        bias: Tensor<C, 1>,
        row_bias: Tensor<C, 1>,
        residual: Tensor<C, 2>,
        row_scales: Tensor<f32, 1>,
        column_scales: Tensor<f32, 1>,
        sums: TensorMut<f32, 2>,
        parts: TensorMut<f32, 3>,
        done: TensorMut<i32, 1>,
        #[no_specialize] steps: i32,
        ordered: bool,
        options: Epilogue,
    ) {
        let (m, n, s) = (program_id(0) * BM, program_id(1) * BN, program_id(2));
        let depth = if TA { a.dim(0) } else { a.dim(1) };
        let range = (s * steps * 32, minimum((s + 1) * steps * 32, depth));
        let acc = if KL > 1 {
            grouped_gemm_tile::<T, f32, BM, BN, BK, KL, TA, TB>(a, b, (m, n), range)
        } else {
            gemm_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, (m, n), range)
        };
        if ordered {
            parts.store([s, m, n], acc.expand_dims(0));
        } else {
            parts.atomic_add([0, m, n], acc.expand_dims(0));
        }
        let tile = program_id(1) * num_programs(0) + program_id(0);
        if last_to_arrive(done, tile, num_programs(2)) {
            let total = if ordered {
                // Where a thread has many elements, as many at a time would spill.
                if BM * BN > 4096 {
                    added_parts::<f32, BM, BN, 1>(parts, (m, n))
                } else {
                    added_parts::<f32, BM, BN, 4>(parts, (m, n))
                }
            } else {
                added_parts::<f32, BM, BN, 1>(parts, (m, n))
            };
            done.store([tile], zeros::<i32>([1]));
            if FUSED {
                let at = (m, n);
                store_tile::<f32, C, BM, BN>(
                    total,
                    at,
                    c,
                    bias,
                    row_bias,
                    residual,
                    row_scales,
                    column_scales,
                    sums,
                    options,
                    |v| activated::<C, BM, BN>(v, options),
                );
            } else {
                c.store([m, n], total.to::<C>());
            }
        }
    }
}
