//! The loops over K of a matrix product.

use triton::prelude::*;

/// The tile of a · b whose first element is at `at`, summed over `k.0 ≤ k < k.1` in steps of BK: `[BM, BN]` of `A`, the type that products of
/// `T` are [added in](triton::lang::dot).
///
/// `at` is a row of a and a column of b. With TA, a is stored \[K, M\] and passed so; with TB, b is stored \[N, K\]. What is out of bounds is 0,
/// which adds nothing.
///
/// A kernel around it is a product with whatever else is wanted before the sum is rounded and stored:
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::functions::{gemm_tile, silu};
///
/// /// c = silu(a · b)², by tiles that the library does not ship.
/// #[triton::kernel(configs = [(BM = 32, BN = 16, BK = 64)])]
/// fn squared<const BM: i32, const BN: i32, const BK: i32>(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
///     let (m, n) = (program_id(0) * BM, program_id(1) * BN);
///     let v = silu(gemm_tile::<f16, f32, BM, BN, BK, false, false>(a, b, (m, n), (0, a.dim(1))));
///     c.store([m, n], v * v);
/// }
///
/// let stream = Device::cpu().stream()?;
/// let ones = stream.upload(&[f16::ONE; 40 * 40])?;
/// let mut c = stream.zeros::<f32>(40 * 40)?;
/// let square = [40, 40];
/// squared::<32, 16, 64>(ones.view(square)?, ones.view(square)?, c.view_mut(square)?).launch(&stream, (2, 3))?;
/// assert_eq!(stream.download(&c)?[7], 1600.0);
/// # Ok::<(), triton::Error>(())
/// ```
#[triton::function]
pub fn gemm_tile<T: Num, A: Num, const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    at: (i32, i32),
    k: (i32, i32),
) -> Tile<A> {
    let (m, n) = at;
    let (first, end) = k;
    let mut acc = zeros::<A>([BM, BN]);
    for k in (first..end).step_by(BK) {
        acc = dot(operand_tile::<T, BM, BK, TA>(a, m, k), operand_tile::<T, BK, BN, TB>(b, k, n), acc);
    }
    acc
}

/// The tile `[M, N]` of a matrix that begins at row i and column j. With TRANSPOSED the matrix is stored \[N, M\], and passed so.
#[triton::function]
pub fn operand_tile<T: Num, const M: i32, const N: i32, const TRANSPOSED: bool>(
    x: Tensor<T, 2>,
    i: i32,
    j: i32,
) -> Tile<T> {
    if TRANSPOSED { x.load([j, i], [N, M]).transpose() } else { x.load([i, j], [M, N]) }
}

/// As [`gemm_tile`], of `f32` that is rounded to TF32 for tensor cores.
#[triton::function]
pub fn gemm_tile_tf32<const BM: i32, const BN: i32, const BK: i32, const TA: bool, const TB: bool>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    at: (i32, i32),
    k: (i32, i32),
) -> Tile<f32> {
    let (m, n) = at;
    let (first, end) = k;
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (first..end).step_by(BK) {
        let x = operand_tile::<f32, BM, BK, TA>(a, m, k);
        acc = dot(x.precision(Tf32), operand_tile::<f32, BK, BN, TB>(b, k, n), acc);
    }
    acc
}

/// As [`gemm_tile`], by KL groups of warps, each of which multiplies a part of the K of a step: for tiles with too few elements for the warps
/// that hide the latency of memory.
#[triton::function]
pub fn grouped_gemm_tile<
    T: Num,
    A: Num,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const KL: i32,
    const TA: bool,
    const TB: bool,
>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    at: (i32, i32),
    k: (i32, i32),
) -> Tile<A> {
    let (m, n) = at;
    let (first, end) = k;
    let mut acc = zeros::<A>([KL, BM, BN]);
    for k in (first..end).step_by(BK) {
        let x = operand_tile::<T, BM, BK, TA>(a, m, k).reshape([BM, KL, BK / KL]).permute([1, 0, 2]);
        acc = dot(x, operand_tile::<T, BK, BN, TB>(b, k, n).reshape([KL, BK / KL, BN]), acc);
    }
    sum_axis(acc, 0)
}

/// As [`gemm_tile`], of product `batch` of \[B, M, K\] and \[B, K, N\] matrices.
#[triton::function]
pub fn batched_gemm_tile<
    T: Num,
    A: Num,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const TA: bool,
    const TB: bool,
>(
    a: Tensor<T, 3>,
    b: Tensor<T, 3>,
    batch: i32,
    at: (i32, i32),
) -> Tile<A> {
    let (m, n) = at;
    let depth = if TA { a.dim(1) } else { a.dim(2) };
    let mut acc = zeros::<A>([BM, BN]);
    for k in (0..depth).step_by(BK) {
        let x = if TA {
            a.load([batch, k, m], [1, BK, BM]).reshape([BK, BM]).transpose()
        } else {
            a.load([batch, m, k], [1, BM, BK]).reshape([BM, BK])
        };
        let y = if TB {
            b.load([batch, n, k], [1, BN, BK]).reshape([BN, BK]).transpose()
        } else {
            b.load([batch, k, n], [1, BK, BN]).reshape([BK, BN])
        };
        acc = dot(x, y, acc);
    }
    acc
}
