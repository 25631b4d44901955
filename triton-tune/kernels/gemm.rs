//! Products, as `triton-kernels` has them, for instances that it does not list. This text is not compiled with the crate: the tuner reads it.

use triton::prelude::*;

/// c = a · b, rounded once. With TA, a is stored \[K, M\], with TB b \[N, K\].
#[triton::kernel]
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

/// The same of few columns, computed as its transpose, cᵀ = bᵀ · aᵀ, by tiles of BN × BM.
#[triton::kernel]
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

/// The same as [`product`], where program (i, j, s) sums `steps` times 32 elements of K of tile (i, j), a multiple of BK, and the last one adds all sums.
#[triton::kernel]
pub fn split<
    T: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const KL: i32,
    const TA: bool,
    const TB: bool,
>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<T, 2>,
    parts: TensorMut<f32, 3>,
    done: TensorMut<i32, 1>,
    #[no_specialize] steps: i32,
    ordered: bool,
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
                added_parts::<BM, BN, 1>(parts, (m, n))
            } else {
                added_parts::<BM, BN, 4>(parts, (m, n))
            }
        } else {
            added_parts::<BM, BN, 1>(parts, (m, n))
        };
        done.store([tile], zeros::<i32>([1]));
        c.store([m, n], total.to::<T>());
    }
}

/// The tile of a · b whose first element is at `at`, summed over `k.0 ≤ k < k.1` in steps of BK.
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

/// As [`gemm_tile`], by KL groups of warps, each of which multiplies a part of the K of a step.
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

/// Whether this program is the last of `of` that count at element `at` of `done`.
#[triton::function]
pub fn last_to_arrive(done: TensorMut<i32, 1>, at: i32, of: i32) -> bool {
    let before = done.order(AcqRel).atomic_add_at([at], 1, true);
    before == of - 1
}

/// The sum of all parts of a tile, in their order, AT at a time. They are 0 afterwards.
#[triton::function]
pub fn added_parts<const BM: i32, const BN: i32, const AT: i32>(parts: TensorMut<f32, 3>, at: (i32, i32)) -> Tile<f32> {
    let (m, n) = at;
    let mut total = zeros::<f32>([BM, BN]);
    for part in (0..parts.dim(0)).step_by(AT) {
        total += sum_axis(parts.load([part, m, n], [AT, BM, BN]), 0);
        parts.store([part, m, n], zeros::<f32>([AT, BM, BN]));
    }
    total
}
