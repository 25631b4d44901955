//! Products of `f64`.

use super::epilogue::{Epilogue, store_tile};
use crate::functions::{activate, gemm_tile};
use triton::prelude::*;

/// c = a · b, as [`product`](super::whole::product).
#[triton::kernel(configs = [
    (BM = 64, BN = 128, BK = 16, TA = false, TB = false, num_warps = 8, num_stages = 4),
    (BM = 64, BN = 64, BK = 16, TA = false, TB = false, general = true),
    (BM = 64, BN = 64, BK = 16, TA = false, TB = true, general = true),
    (BM = 64, BN = 64, BK = 16, TA = true, TB = false, general = true),
    (BM = 64, BN = 64, BK = 16, TA = true, TB = true, general = true),
], tune = [BM, BN, BK])]
pub fn product_f64<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<f64, 2>,
    b: Tensor<f64, 2>,
    c: TensorMut<f64, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile::<f64, f64, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    c.store([m, n], acc);
}

/// As [`fused`](super::fused::fused), summed in `f64`, with every activation; scales and the sums of columns are of `f32`.
#[triton::kernel(warnings = false, configs = [
    (BM = 32, BN = 64, BK = 16, TA = false, TB = false, general = true),
    (BM = 32, BN = 64, BK = 16, TA = false, TB = true, general = true),
    (BM = 32, BN = 64, BK = 16, TA = true, TB = false, general = true),
    (BM = 32, BN = 64, BK = 16, TA = true, TB = true, general = true),
], tune = [BM, BN, BK])]
pub fn fused_f64<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<f64, 2>,
    b: Tensor<f64, 2>,
    c: TensorMut<f64, 2>,
    bias: Tensor<f64, 1>,
    row_bias: Tensor<f64, 1>,
    residual: Tensor<f64, 2>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 2>,
    options: Epilogue,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile::<f64, f64, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    let at = (m, n);
    store_tile::<f64, f64, BM, BN>(
        acc,
        at,
        c,
        bias,
        row_bias,
        residual,
        row_scales,
        column_scales,
        sums,
        options,
        |v| activate(v, options.activation, options.slope),
    );
}
