//! Products with a program for each tile of the result.

use crate::functions::{gemm_tile, gemm_tile_tf32};
use triton::prelude::*;

/// c = a · b, rounded once. With TA, a is stored \[K, M\], with TB b \[N, K\].
///
/// In two stages, two blocks of the large tiles of `f32` fit a multiprocessor of every target. Tiles of three, five or more times a power of two are
/// for the products whose last wave of larger or smaller tiles would be short: `wgmma` alone multiplies them without waste.
#[triton::kernel(configs = [
    (T = f32, BM = 128, BN = 128, BK = 32, TA = false, TB = false, num_warps = 8, num_stages = 2),
    (T = f32, BM = 64, BN = 128, BK = 16, TA = false, TB = false),
    (T = f32, BM = 128, BN = 128, BK = 32, TA = false, TB = true, num_warps = 8, num_stages = 2),
    (T = f32, BM = 64, BN = 128, BK = 16, TA = false, TB = true),
    (T = f32, BM = 128, BN = 128, BK = 32, TA = true, TB = false, num_warps = 8, num_stages = 2),
    (T = f32, BM = 64, BN = 128, BK = 16, TA = true, TB = false),
    (T = f32, BM = 128, BN = 128, BK = 32, TA = true, TB = true, num_warps = 8, num_stages = 2),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = false, TB = false, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = false, TB = true, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = true, TB = false, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TA = true, TB = true, general = true),
    (T = bf16, BM = 128, BN = 256, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 256, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 256, BK = 64, TA = true, TB = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 128, BN = 256, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 128, BK = 32, TA = false, TB = true),
    (T = bf16, BM = 64, BN = 128, BK = 64, TA = false, TB = false, num_stages = 8),
    (T = bf16, BM = 64, BN = 128, BK = 64, TA = false, TB = true, num_stages = 8),
    (T = bf16, BM = 64, BN = 128, BK = 64, TA = true, TB = false, num_stages = 8),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_stages = 8),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, TA = false, TB = false, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, TA = false, TB = true, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, TA = true, TB = false, general = true),
    (T = bf16, BM = 64, BN = 64, BK = 32, TA = true, TB = true, general = true),
    (T = bf16, BM = 64, BN = 16, BK = 128, TA = false, TB = true, num_stages = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 16, BK = 256, TA = false, TB = false, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 16, BK = 256, TA = false, TB = true, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 16, BK = 256, TA = true, TB = false, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 32, BK = 512, TA = false, TB = false, num_stages = 4, cluster_k = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 32, BK = 512, TA = true, TB = false, num_stages = 4, cluster_k = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 64, BK = 1024, TA = false, TB = true, num_stages = 6, cluster_k = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 192, BK = 64, TA = false, TB = false, num_warps = 4, num_stages = 5, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 128, BK = 256, TA = false, TB = false, num_stages = 7, cluster_k = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 192, BN = 240, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 256, BN = 192, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 208, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 192, BK = 64, TA = false, TB = true, num_warps = 4, num_stages = 5, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 160, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 144, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = bf16, BM = 192, BN = 96, BK = 64, TA = false, TB = true, num_stages = 5, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 256, BK = 64, TA = false, TB = true, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 192, BK = 64, TA = false, TB = true, num_stages = 6, targets = ["sm_90a"]),
    (T = bf16, BM = 64, BN = 96, BK = 64, TA = false, TB = true, num_stages = 8, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 128, BK = 256, TA = false, TB = true, num_warps = 8, num_stages = 6, cluster_k = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 256, BN = 192, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = bf16, BM = 128, BN = 192, BK = 64, TA = true, TB = false, num_warps = 4, num_stages = 5, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 256, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 256, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 256, BK = 64, TA = true, TB = true, num_warps = 8, num_stages = 4),
    (T = f16, BM = 128, BN = 256, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 128, BK = 32, TA = false, TB = true),
    (T = f16, BM = 64, BN = 128, BK = 64, TA = false, TB = false, num_stages = 8),
    (T = f16, BM = 64, BN = 128, BK = 64, TA = false, TB = true, num_stages = 8),
    (T = f16, BM = 64, BN = 128, BK = 64, TA = true, TB = false, num_stages = 8),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_stages = 8),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 32, TA = false, TB = false, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, TA = false, TB = true, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, TA = true, TB = false, general = true),
    (T = f16, BM = 64, BN = 64, BK = 32, TA = true, TB = true, general = true),
    (T = f16, BM = 64, BN = 16, BK = 128, TA = false, TB = true, num_stages = 8, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 16, BK = 256, TA = false, TB = false, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 16, BK = 256, TA = false, TB = true, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 16, BK = 256, TA = true, TB = false, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 32, BK = 512, TA = false, TB = false, num_stages = 4, cluster_k = 4, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 32, BK = 512, TA = true, TB = false, num_stages = 4, cluster_k = 4, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 64, BK = 1024, TA = false, TB = true, num_stages = 6, cluster_k = 8, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 192, BK = 64, TA = false, TB = false, num_warps = 4, num_stages = 5, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 128, BK = 256, TA = false, TB = false, num_stages = 7, cluster_k = 4, targets = ["sm_90a"]),
    (T = f16, BM = 192, BN = 240, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = f16, BM = 256, BN = 192, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 208, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 192, BK = 64, TA = false, TB = true, num_warps = 4, num_stages = 5, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 160, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 144, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (T = f16, BM = 192, BN = 96, BK = 64, TA = false, TB = true, num_stages = 5, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 256, BK = 64, TA = false, TB = true, num_stages = 4, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 192, BK = 64, TA = false, TB = true, num_stages = 6, targets = ["sm_90a"]),
    (T = f16, BM = 64, BN = 96, BK = 64, TA = false, TB = true, num_stages = 8, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 128, BK = 256, TA = false, TB = true, num_warps = 8, num_stages = 6, cluster_k = 4, targets = ["sm_90a"]),
    (T = f16, BM = 256, BN = 192, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (T = f16, BM = 128, BN = 192, BK = 64, TA = true, TB = false, num_warps = 4, num_stages = 5, targets = ["sm_90a"]),
], tune = [BM, BN, BK])]
pub fn product<T: Float, const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    c.store([m, n], acc.to::<T>());
}

/// The same, computed as its transpose, cᵀ = bᵀ · aᵀ, by tiles of BN × BM.
///
/// A warpgroup multiplies 64 rows or more, and columns in units of 8: here rows of the product are columns of c. So the tile along M can be as small as
/// few rows of c ask for, or a multiple of 16 that fills the last wave, also where b is stored \[K, N\]: of columns of such an operand `wgmma` reads
/// multiples of 64 from whole lines of memory.
#[triton::kernel(T = [bf16, f16], configs = [
    (BM = 32, BN = 64, BK = 128, TA = false, TB = false, num_stages = 8),
    (BM = 64, BN = 64, BK = 128, TA = false, TB = false, num_stages = 6),
    (BM = 32, BN = 64, BK = 128, TA = false, TB = true, num_stages = 8),
    (BM = 64, BN = 64, BK = 128, TA = false, TB = true, num_stages = 6),
    (BM = 32, BN = 64, BK = 128, TA = true, TB = false, num_stages = 8),
    (BM = 64, BN = 64, BK = 128, TA = true, TB = false, num_stages = 6),
    (BM = 112, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 7, targets = ["sm_90a"]),
    (BM = 144, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (BM = 144, BN = 256, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 176, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (BM = 208, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (BM = 240, BN = 192, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 80, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 8, targets = ["sm_90a"]),
    (BM = 144, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 6, targets = ["sm_90a"]),
    (BM = 160, BN = 192, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (BM = 112, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 7, targets = ["sm_90a"]),
    (BM = 16, BN = 64, BK = 128, TA = false, TB = true, num_stages = 8, targets = ["sm_90a"]),
    (BM = 16, BN = 64, BK = 256, TA = false, TB = true, num_stages = 8, cluster_k = 2, targets = ["sm_90a"]),
    (BM = 32, BN = 64, BK = 512, TA = false, TB = true, num_stages = 4, cluster_k = 4, targets = ["sm_90a"]),
    (BM = 32, BN = 128, BK = 128, TA = false, TB = true, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (BM = 64, BN = 64, BK = 256, TA = false, TB = true, num_stages = 6, cluster_k = 2, targets = ["sm_90a"]),
    (BM = 96, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 7, targets = ["sm_90a"]),
    (BM = 144, BN = 256, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4, targets = ["sm_90a"]),
    (BM = 176, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
    (BM = 208, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 5, targets = ["sm_90a"]),
], tune = [BM, BN, BK])]
pub fn transposed<T: Float, const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    // In the place of a there is bᵀ: its rows are stored where b is transposed.
    let acc = if TA {
        if TB {
            gemm_tile::<T, f32, BN, BM, BK, false, false>(b, a, (n, m), (0, depth))
        } else {
            gemm_tile::<T, f32, BN, BM, BK, true, false>(b, a, (n, m), (0, depth))
        }
    } else {
        if TB {
            gemm_tile::<T, f32, BN, BM, BK, false, true>(b, a, (n, m), (0, depth))
        } else {
            gemm_tile::<T, f32, BN, BM, BK, true, true>(b, a, (n, m), (0, depth))
        }
    };
    c.store([m, n], acc.to::<T>().transpose());
}

/// As [`product`] of `f32` that is rounded to TF32 for tensor cores.
#[triton::kernel(configs = [
    (BM = 128, BN = 128, BK = 32, TA = false, TB = false, num_warps = 8),
    (BM = 128, BN = 256, BK = 32, TA = false, TB = true, num_warps = 8, num_stages = 4),
    (BM = 64, BN = 64, BK = 32, TA = false, TB = false, general = true),
    (BM = 64, BN = 64, BK = 32, TA = false, TB = true, general = true),
    (BM = 64, BN = 64, BK = 32, TA = true, TB = false, general = true),
    (BM = 64, BN = 64, BK = 32, TA = true, TB = true, general = true),
], tune = [BM, BN, BK])]
pub fn product_tf32<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile_tf32::<BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    c.store([m, n], acc);
}
