//! Products of `i8`, summed in `i32`.

use super::epilogue::{Epilogue, activated, store_tile};
use crate::functions::gemm_tile;
use triton::prelude::*;

/// c = a · b, as [`product`](super::whole::product).
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 128, TA = false, TB = true, num_warps = 8, num_stages = 3),
    (BM = 64, BN = 64, BK = 64, TA = false, TB = false, general = true),
    (BM = 64, BN = 64, BK = 64, TA = false, TB = true, general = true),
    (BM = 64, BN = 64, BK = 64, TA = true, TB = false, general = true),
    (BM = 64, BN = 64, BK = 64, TA = true, TB = true, general = true),
], tune = [BM, BN, BK])]
pub fn product_i8<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<i8, 2>,
    b: Tensor<i8, 2>,
    c: TensorMut<i32, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile::<i8, i32, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    c.store([m, n], acc);
}

/// The same with an epilogue in `f32`, as [`fused`](super::fused::fused).
#[triton::kernel(warnings = false, configs = [
    (C = f32, BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_warps = 8, general = true),
    (C = f32, BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_warps = 8, general = true),
    (C = f32, BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_warps = 8, general = true),
    (C = f32, BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_warps = 8, general = true),
    (C = bf16, BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_warps = 8, general = true),
    (C = bf16, BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_warps = 8, general = true),
    (C = bf16, BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_warps = 8, general = true),
    (C = bf16, BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_warps = 8, general = true),
], tune = [BM, BN, BK])]
pub fn fused_i8<C: Float, const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<i8, 2>,
    b: Tensor<i8, 2>,
    c: TensorMut<C, 2>,
    bias: Tensor<C, 1>,
    row_bias: Tensor<C, 1>,
    residual: Tensor<C, 2>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 2>,
    options: Epilogue,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile::<i8, i32, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth)).to::<f32>();
    let at = (m, n);
    store_tile::<f32, C, BM, BN>(acc, at, c, bias, row_bias, residual, row_scales, column_scales, sums, options, |v| {
        activated::<C, BM, BN>(v, options)
    });
}
