//! Products of groups of rows, each with a matrix of its own.

use super::epilogue::{Epilogue, activated};
use triton::prelude::*;

/// Rows `ends[g - 1]` to `ends[g]` of c = activation(α · a · b\[g\]). With TB, the matrices of b are stored \[N, K\].
///
/// A program finds its group and its rows by walking through the groups, of which each has a tile that is cut at most: there are as many
/// programs along M as tiles of all rows and groups. Ends that are not in order, or beyond the rows of a, are moved to the nearest place.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 64, BN = 64, BK = 32, TB = false, num_warps = 8, general = true),
    (T = f32, BM = 64, BN = 64, BK = 32, TB = true, num_warps = 8, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 64, TB = false, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, TB = false, num_warps = 8, general = true),
    (T = bf16, BM = 128, BN = 128, BK = 64, TB = true, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32, TB = true, num_warps = 8, general = true),
    (T = f16, BM = 128, BN = 128, BK = 64, TB = false, num_warps = 8, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 32, TB = false, num_warps = 8, general = true),
    (T = f16, BM = 128, BN = 128, BK = 64, TB = true, num_warps = 8, num_stages = 4),
    (T = f16, BM = 64, BN = 64, BK = 32, TB = true, num_warps = 8, general = true),
], tune = [BM, BN, BK])]
pub fn grouped<T: Float, const BM: i32, const BN: i32, const BK: i32, const TB: bool>(
    a: Tensor<T, 2>,
    b: Tensor<T, 3>,
    c: TensorMut<T, 2>,
    ends: Tensor<i32, 1>,
    options: Epilogue,
) {
    let n = program_id(1) * BN;
    let (mut slot, mut begin) = (program_id(0), 0);
    let (mut group, mut first, mut stop) = (0, 0, 0);
    for g in 0..ends.dim(0) {
        let end = minimum(maximum(ends.get([g]), begin), a.dim(0));
        let tiles = (end - begin + (BM - 1)) / BM;
        if slot >= 0 && slot < tiles {
            group = g;
            first = begin + slot * BM;
            stop = end;
        }
        slot -= tiles;
        begin = end;
    }
    // A program without rows multiplies nothing.
    let depth = if stop > first { a.dim(1) } else { 0 };
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..depth).step_by(BK) {
        let y = if TB {
            b.load([group, n, k], [1, BN, BK]).reshape([BN, BK]).transpose()
        } else {
            b.load([group, k, n], [1, BK, BN]).reshape([BK, BN])
        };
        acc = dot(a.load([first, k], [BM, BK]), y, acc);
    }
    let v = activated::<T, BM, BN>(acc * options.alpha.to::<f32>(), options);
    let rows = (arange(0, BM) + first).expand_dims(1);
    // The rows behind those of the group are of the next one.
    c.scatter([rows, (arange(0, BN) + n).expand_dims(0)], v.to::<T>(), rows < stop);
}
