//! Products with an epilogue, with a program for each tile of the result.

use super::epilogue::{Epilogue, activated, store_tile};
use crate::functions::{gemm_tile, gemm_tile_tf32};
use triton::prelude::*;

crate::__fused_instances! {
    [
        single(T = f32, C = f32,)
        half(T = bf16, C = bf16,)
        half(T = f16, C = f16,)
        wide(T = bf16, C = f32,)
        wide(T = f16, C = f32,)
    ]

    /// c = activation(α · scales · a · b + β · c + bias) + residual, and the sums of its columns in tiles: what an [`Epilogue`] asks for.
    ///
    /// With two threads' worth of operands live at the end, a tile is half as large as of a plain product. No image spills, which the compiler
    /// cannot see.
    pub fn fused<T: Float, C: Float, const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
        a: Tensor<T, 2>,
        b: Tensor<T, 2>,
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
        let acc = gemm_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
        let at = (m, n);
        store_tile::<f32, C, BM, BN>(acc, at, c, bias, row_bias, residual, row_scales, column_scales, sums, options, |v| {
            activated::<C, BM, BN>(v, options)
        });
    }
}

/// The same of `f32` that is rounded to TF32 for tensor cores.
#[triton::kernel(warnings = false, configs = [
    (BM = 64, BN = 64, BK = 32, TA = false, TB = false, num_warps = 8, general = true),
    (BM = 64, BN = 64, BK = 32, TA = false, TB = true, num_warps = 8, general = true),
    (BM = 64, BN = 64, BK = 32, TA = true, TB = false, num_warps = 8, general = true),
    (BM = 64, BN = 64, BK = 32, TA = true, TB = true, num_warps = 8, general = true),
], tune = [BM, BN, BK])]
pub fn fused_tf32<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: TensorMut<f32, 2>,
    bias: Tensor<f32, 1>,
    row_bias: Tensor<f32, 1>,
    residual: Tensor<f32, 2>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 2>,
    options: Epilogue,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile_tf32::<BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    let at = (m, n);
    store_tile::<f32, f32, BM, BN>(
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
        |v| activated::<f32, BM, BN>(v, options),
    );
}
