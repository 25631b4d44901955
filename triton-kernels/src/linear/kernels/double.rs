//! Products of `f64`.

use super::epilogue::{Epilogue, store_tile};
use crate::functions::{activate, added_parts, gemm_tile, last_to_arrive};
use triton::prelude::*;

/// c = a · b, as [`product`](super::whole::product).
#[triton::kernel(configs = [
    (BM = 64, BN = 128, BK = 16, TA = false, TB = false, num_warps = 8, num_stages = 4),
    (BM = 64, BN = 128, BK = 16, TA = false, TB = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 32, BN = 32, BK = 32, TA = false, TB = false, targets = ["sm_90a"]),
    (BM = 32, BN = 32, BK = 32, TA = false, TB = true, targets = ["sm_90a"]),
    (BM = 32, BN = 32, BK = 32, TA = true, TB = false, targets = ["sm_90a"]),
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

/// As [`split`](super::split::split), summed in `f64`. The sums of a tile are added one part after the other: they take twice the registers.
///
/// With an epilogue a thread has 8 elements: the code of the activations is for each of them, and most of an image.
#[triton::kernel(warnings = false, configs = [
    (BM = 64, BN = 32, BK = 16, TA = false, TB = false, FUSED = false, targets = ["sm_90a"]),
    (BM = 64, BN = 32, BK = 16, TA = false, TB = true, FUSED = false, targets = ["sm_90a"]),
    (BM = 64, BN = 32, BK = 16, TA = true, TB = false, FUSED = false, targets = ["sm_90a"]),
    (BM = 64, BN = 64, BK = 16, TA = false, TB = false, FUSED = false, general = true),
    (BM = 64, BN = 64, BK = 16, TA = false, TB = true, FUSED = false, general = true),
    (BM = 64, BN = 64, BK = 16, TA = true, TB = false, FUSED = false, general = true),
    (BM = 64, BN = 64, BK = 16, TA = true, TB = true, FUSED = false, general = true),
    (BM = 32, BN = 64, BK = 16, TA = false, TB = false, FUSED = true, num_warps = 8, general = true),
    (BM = 32, BN = 64, BK = 16, TA = false, TB = true, FUSED = true, num_warps = 8, general = true),
    (BM = 32, BN = 64, BK = 16, TA = true, TB = false, FUSED = true, num_warps = 8, general = true),
    (BM = 32, BN = 64, BK = 16, TA = true, TB = true, FUSED = true, num_warps = 8, general = true),
], tune = [BM, BN, BK])]
pub fn split_f64<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool, const FUSED: bool>(
    a: Tensor<f64, 2>,
    b: Tensor<f64, 2>,
    c: TensorMut<f64, 2>,
    bias: Tensor<f64, 1>,
    row_bias: Tensor<f64, 1>,
    residual: Tensor<f64, 2>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 2>,
    parts: TensorMut<f64, 3>,
    done: TensorMut<i32, 1>,
    #[no_specialize] steps: i32,
    ordered: bool,
    options: Epilogue,
) {
    let (m, n, s) = (program_id(0) * BM, program_id(1) * BN, program_id(2));
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let range = (s * steps * 32, minimum((s + 1) * steps * 32, depth));
    let acc = gemm_tile::<f64, f64, BM, BN, BK, TA, TB>(a, b, (m, n), range);
    if ordered {
        parts.store([s, m, n], acc.expand_dims(0));
    } else {
        parts.atomic_add([0, m, n], acc.expand_dims(0));
    }
    let tile = program_id(1) * num_programs(0) + program_id(0);
    if last_to_arrive(done, tile, num_programs(2)) {
        let total = added_parts::<f64, BM, BN, 1>(parts, (m, n));
        done.store([tile], zeros::<i32>([1]));
        if FUSED {
            let at = (m, n);
            store_tile::<f64, f64, BM, BN>(
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
                |v| activate(v, options.activation, options.slope),
            );
        } else {
            c.store([m, n], total);
        }
    }
}
