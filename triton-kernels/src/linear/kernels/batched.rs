//! Products of a batch of matrices, in one launch.

use super::epilogue::{Epilogue, activated, finished};
use crate::functions::batched_gemm_tile;
use triton::prelude::*;

/// As [`fused`](super::fused::fused), of \[B, M, K\] and \[B, K, N\] matrices.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 64, BN = 64, BK = 32, TA = false, TB = false, num_warps = 8, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = false, TB = true, num_warps = 8, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = true, TB = false, num_warps = 8, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = true, TB = true, num_warps = 8, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 3, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 3, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 3, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_warps = 8, num_stages = 3, general = true),
    (T = f16, BM = 128, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 3, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 3, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 3, general = true),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_warps = 8, num_stages = 3, general = true),
], tune = [BM, BN, BK])]
pub fn batched<T: Float, const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<T, 3>,
    b: Tensor<T, 3>,
    c: TensorMut<T, 3>,
    bias: Tensor<T, 1>,
    row_bias: Tensor<T, 1>,
    residual: Tensor<T, 3>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    options: Epilogue,
) {
    let (m, n, batch) = (program_id(0) * BM, program_id(1) * BN, program_id(2));
    let acc = batched_gemm_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, batch, (m, n));
    let v = finished::<f32, T, BM, BN>(
        acc,
        (m, n),
        || c.load([batch, m, n], [1, BM, BN]).reshape([BM, BN]).to::<f32>(),
        || residual.load([batch, m, n], [1, BM, BN]).reshape([BM, BN]).to::<f32>(),
        bias,
        row_bias,
        row_scales,
        column_scales,
        options,
        |v| activated::<T, BM, BN>(v, options),
    );
    c.store([batch, m, n], v.to::<T>().expand_dims(0));
}
