//! Products that are added to what is there.

use crate::functions::gemm_tile;
use triton::prelude::*;

/// c += a · b, rounded once. With TB, b is stored \[N, K\].
///
/// An [epilogue](super::fused::fused) takes registers for all that may be asked for, so that its tiles are half as large: 4096 rows, 8192 columns and K = 4096 take 1.24
/// times as long there.
#[triton::kernel(T = [bf16, f16], warnings = false, configs = [
    (BM = 128, BN = 256, BK = 64, TB = false, num_warps = 8, num_stages = 4),
    (BM = 128, BN = 256, BK = 64, TB = true, num_warps = 8, num_stages = 4),
], targets = ["sm_90a"], tune = [BM, BN, BK])]
pub fn added<T: Float, const BM: i32, const BN: i32, const BK: i32, const TB: bool>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let acc = gemm_tile::<T, f32, BM, BN, BK, false, TB>(a, b, (m, n), (0, a.dim(1)));
    c.store([m, n], (acc + c.load([m, n], [BM, BN]).to::<f32>()).to::<T>());
}
