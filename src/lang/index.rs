//! The program's position in the grid, and tiles of indices.

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
/// two, or more than 2²⁰.
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
