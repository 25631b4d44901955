//! The program's position in the grid, tiles of indices, and counters that are constants.

use super::control::{Counter, Range};
use super::{Tile, stub};

/// The index of this program along an axis of the grid.
///
/// From 0 to [`num_programs(axis)`](num_programs) − 1. A launch with `grid = (m, n)` runs programs 0..m along axis 0 and
/// 0..n along axis 1.
///
/// # Compile errors
/// `axis` is not a compile-time constant, or is not 0, 1 or 2.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn number_rows(out: PtrMut<i32>) {
///     let row = program_id(0);
///     store(out + row * 64 + arange(0, 64), row, true);
/// }
/// ```
#[inline]
pub fn program_id(axis: i32) -> i32 {
    let _ = axis;
    stub()
}

/// The number of programs in the grid along an axis.
///
/// # Compile errors
/// `axis` is not a compile-time constant, or is not 0, 1 or 2.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn count_down(out: PtrMut<i32>) {
///     let left = num_programs(0) - program_id(0);
///     store(out + program_id(0), left, true);
/// }
/// ```
#[inline]
pub fn num_programs(axis: i32) -> i32 {
    let _ = axis;
    stub()
}

/// The integers from `lo` up to, but not including, `hi`: a tile of `i32[hi - lo]`.
///
/// # Compile errors
/// A bound is not a compile-time constant, or does not fit `i32`; `hi` is not above `lo`; `hi - lo` is not a power of
/// two times an odd number of at most 31, or more than 2²⁰.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel(BLOCK = [64, 128])]
/// fn iota<const BLOCK: i32>(out: PtrMut<i32>) {
///     let i = program_id(0) * BLOCK + arange(0, BLOCK);
///     store(out + i, i, true);
/// }
/// ```
#[inline]
pub fn arange(lo: i32, hi: i32) -> Tile<i32> {
    let _ = (lo, hi);
    stub()
}

/// The numbers of a range, each of which the body of a `for` is compiled for.
///
/// In the body the counter is a compile-time constant: it makes shapes and bounds of [`arange`](crate::lang::arange), it chooses branches,
/// and what is computed of it and of other constants is one, too. The range may have a step: `unroll((0..8).step_by(2))`. Iterations follow
/// each other as those of any `for`, and `break` and `continue` leave them.
///
/// # Compile errors
/// A bound is not a compile-time constant, the unrolled loops of the kernel have more than 4096 iterations, or it does not stand in the head of
/// a `for`.
///
/// ```
/// use triton::prelude::*;
///
/// /// Sums of neighbours 1, 2, 4, .. apart: the Walsh-Hadamard transform of 64 numbers.
/// #[triton::kernel]
/// fn hadamard(x: PtrMut<f32>) {
///     let i = arange(0, 64);
///     let mut v = load(x + i, true);
///     for k in unroll(0..6) {
///         let pairs = v.reshape([32 >> k, 2, 1 << k]);
///         let sign = select(arange(0, 2) == 0, 1.0, -1.0).reshape([1, 2, 1]);
///         v = (sum_axis(pairs, 1).expand_dims(1) * (sign + 1.0) * 0.5
///             + sum_axis(pairs * sign, 1).expand_dims(1) * (1.0 - sign) * 0.5)
///         .reshape([64]);
///     }
///     store(x + i, v, true);
/// }
/// ```
#[inline]
pub fn unroll<T: Counter>(range: Range<T>) -> Range<T> {
    let _ = range;
    stub()
}
