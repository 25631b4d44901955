//! What a program does of a product with a function of the user's: the bodies of the kernels that [`gemm_with!`](crate::gemm_with) makes.
//!
//! They are those of [`fused`](super::fused::fused) and [`split`](super::split::split), with the function in the place of their epilogue.

use crate::functions::{added_parts, gemm_tile, last_to_arrive};
use triton::prelude::*;

/// c = epilogue(a · b, place): the tile of this program. Columns are counted from `first` on.
#[triton::function]
pub fn store_product<
    T: Float,
    C: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const TA: bool,
    const TB: bool,
>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<C, 2>,
    first: i32,
    epilogue: impl Fn(Tile<f32>, (i32, i32)) -> Tile<f32>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let acc = gemm_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, (m, n), (0, depth));
    let at = (m, n + first);
    c.store([m, n], epilogue(acc, at).to::<C>());
}

/// The same, where program (i, j, s) sums `steps` times 32 elements of K of tile (i, j), a multiple of BK, and the last one to arrive finishes it.
#[triton::function]
pub fn store_split_product<
    T: Float,
    C: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const TA: bool,
    const TB: bool,
>(
    a: Tensor<T, 2>,
    b: Tensor<T, 2>,
    c: TensorMut<C, 2>,
    parts: TensorMut<f32, 3>,
    done: TensorMut<i32, 1>,
    steps: i32,
    ordered: bool,
    first: i32,
    epilogue: impl Fn(Tile<f32>, (i32, i32)) -> Tile<f32>,
) {
    let (m, n, s) = (program_id(0) * BM, program_id(1) * BN, program_id(2));
    let depth = if TA { a.dim(0) } else { a.dim(1) };
    let range = (s * steps * 32, minimum((s + 1) * steps * 32, depth));
    let acc = gemm_tile::<T, f32, BM, BN, BK, TA, TB>(a, b, (m, n), range);
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
                added_parts::<f32, BM, BN, 1>(parts, (m, n))
            } else {
                added_parts::<f32, BM, BN, 4>(parts, (m, n))
            }
        } else {
            added_parts::<f32, BM, BN, 1>(parts, (m, n))
        };
        done.store([tile], zeros::<i32>([1]));
        let at = (m, n + first);
        c.store([m, n], epilogue(total, at).to::<C>());
    }
}
