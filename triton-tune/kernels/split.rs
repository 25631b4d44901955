//! The split product of `triton-kernels`, without its epilogue. This text, and those of the library that are linked beside it, are not compiled with the
//! crate: the tuner reads them.

use triton::prelude::*;

/// c = a · b, where program (i, j, s) sums `steps` times 32 elements of K of tile (i, j), a multiple of BK, and the last one adds all sums.
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
                added_parts::<f32, BM, BN, 1>(parts, (m, n))
            } else {
                added_parts::<f32, BM, BN, 4>(parts, (m, n))
            }
        } else {
            added_parts::<f32, BM, BN, 1>(parts, (m, n))
        };
        done.store([tile], zeros::<i32>([1]));
        c.store([m, n], total.to::<T>());
    }
}
