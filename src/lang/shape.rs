//! Creating and reshaping tiles.

use super::{Tile, stub};
use crate::Element;

/// A tile of a shape, filled with 0 (`false` for `bool`).
///
/// # Compile errors
/// An extent is not a compile-time constant, or not a power of two times an odd number of at most 31; the tile has more than five axes or 2²⁰ elements; or
/// no element type is given: neither as in `zeros::<f32>(..)` nor by an annotation.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel(BLOCK = [64, 128])]
/// fn column_sums<const BLOCK: i32>(x: Ptr<f32>, out: PtrMut<f32>, rows: i32) {
///     let i = program_id(0) * BLOCK + arange(0, BLOCK);
///     let mut acc = zeros::<f32>([BLOCK]);
///     for row in 0..rows {
///         acc += load(x + row * num_programs(0) * BLOCK + i, true);
///     }
///     store(out + i, acc, true);
/// }
/// ```
#[inline]
pub fn zeros<T: Element>(shape: impl Shape) -> Tile<T> {
    let _ = shape;
    stub()
}

/// A tile of a shape, filled with one value.
///
/// A literal is of the type between the angle brackets, `full::<f16>([64], 1.0)`; without one it is `f32` or `i32`.
///
/// # Compile errors
/// Those of [`zeros`], and `value` is not a scalar of the element type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn running_maximum(x: Ptr<f32>, out: PtrMut<f32>, rows: i32) {
///     let i = arange(0, 64);
///     let mut best = full([64], f32::NEG_INFINITY);
///     for row in 0..rows {
///         best = maximum(best, load(x + row * 64 + i, true));
///         store(out + row * 64 + i, best, true);
///     }
/// }
/// ```
#[inline]
pub fn full<T: Element>(shape: impl Shape, value: T) -> Tile<T> {
    let _ = (shape, value);
    stub()
}

/// Two tiles as one with a new last axis of 2: `f32[64]` and `f32[64]` become `f32[64, 2]`.
///
/// Its element with the last index 0 is that of `a`, with 1 that of `b`. The shapes broadcast to a common one. [`split`] is the inverse.
///
/// # Compile errors
/// An operand is not a tile; they differ in element type, or their shapes do not broadcast; the result has more than five axes or
/// 2²⁰ elements.
///
/// ```
/// use triton::prelude::*;
///
/// /// out = x followed by y.
/// #[triton::kernel]
/// fn append(x: Ptr<f32>, y: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 64);
///     let both = join(load(x + i, true), load(y + i, true)); // f32[64, 2]
///     store(out + arange(0, 128), both.transpose().reshape([128]), true);
/// }
/// ```
#[inline]
pub fn join<T>(a: Tile<T>, b: Tile<T>) -> Tile<T> {
    let _ = (a, b);
    stub()
}

/// The two tiles that are joined along a last axis of 2: `f32[64, 2]` becomes `f32[64]` and `f32[64]`.
///
/// # Compile errors
/// The operand is not a tile, its last axis has another extent than 2, or it has no other axis.
///
/// ```
/// use triton::prelude::*;
///
/// /// Lengths of complex numbers, whose parts are neighbours.
/// #[triton::kernel]
/// fn lengths(x: Ptr<f32>, out: PtrMut<f32>) {
///     let (re, im) = split(load(x + arange(0, 128), true).reshape([64, 2]));
///     store(out + arange(0, 64), sqrt(re * re + im * im), true);
/// }
/// ```
#[inline]
pub fn split<T>(x: Tile<T>) -> (Tile<T>, Tile<T>) {
    let _ = x;
    stub()
}

/// The elements of two tiles in turns along their last axis: `f32[64]` and `f32[64]` become `f32[128]`.
///
/// That is a [`join`] whose last two axes are one.
///
/// # Compile errors
/// Those of [`join`].
///
/// ```
/// use triton::prelude::*;
///
/// /// Complex numbers whose parts are neighbours, of separate parts.
/// #[triton::kernel]
/// fn pack(re: Ptr<f32>, im: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 64);
///     store(out + arange(0, 128), interleave(load(re + i, true), load(im + i, true)), true);
/// }
/// ```
#[inline]
pub fn interleave<T>(a: Tile<T>, b: Tile<T>) -> Tile<T> {
    let _ = (a, b);
    stub()
}

impl<T> Tile<T> {
    /// Inserts an axis of extent 1: `f32[64]` becomes `f32[1, 64]` with `axis` 0, and `f32[64, 1]` with `axis` 1.
    ///
    /// Two tiles that differ in such axes broadcast against each other, as rows and columns do. A tile of pointers can be
    /// given another shape, too.
    ///
    /// # Compile errors
    /// `axis` is not a compile-time constant, negative, or larger than the number of axes; or there are five axes
    /// already.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn outer_product(x: Ptr<f32>, y: Ptr<f32>, out: PtrMut<f32>) {
    ///     let (i, j) = (arange(0, 16), arange(0, 32));
    ///     let (a, b) = (load(x + i, true).expand_dims(1), load(y + j, true).expand_dims(0));
    ///     store(out + (i.expand_dims(1) * 32 + j.expand_dims(0)), a * b, true); // f32[16, 32]
    /// }
    /// ```
    #[inline]
    pub fn expand_dims(self, axis: i32) -> Tile<T> {
        let _ = axis;
        stub()
    }

    /// The same elements, in row-major order, as a tile of another shape.
    ///
    /// # Compile errors
    /// An extent is not a compile-time constant, or not a power of two times an odd number of at most 31; the number of elements differs; or the
    /// reshape is across an odd factor, which stays the outermost part of its axis: `[2, 96]` can become `[2, 12, 8]`, but not `[192]`.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn sums_of_four(x: Ptr<f32>, out: PtrMut<f32>) {
    ///     let v = load(x + arange(0, 256), true);
    ///     store(out + arange(0, 64), sum_axis(v.reshape([64, 4]), 1), true);
    /// }
    /// ```
    #[inline]
    pub fn reshape(self, shape: impl Shape) -> Tile<T> {
        let _ = shape;
        stub()
    }

    /// Swaps the last two axes: the transpose of a matrix.
    ///
    /// # Compile errors
    /// The tile has fewer than two axes.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn transpose(x: Ptr<f32>, out: PtrMut<f32>) {
    ///     let i = arange(0, 32).expand_dims(1) * 32 + arange(0, 32).expand_dims(0);
    ///     store(out + i, load(x + i, true).transpose(), true);
    /// }
    /// ```
    #[inline]
    pub fn transpose(self) -> Tile<T> {
        stub()
    }

    /// Permutes the axes: axis `k` of the result is axis `order[k]` of the tile.
    ///
    /// # Compile errors
    /// `order` is not a compile-time constant, or does not name every axis once.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn channels_last(x: Ptr<f32>, out: PtrMut<f32>) {
    ///     let i = arange(0, 512);
    ///     let v = load(x + i, true).reshape([4, 8, 16]);
    ///     store(out + i, v.permute([1, 2, 0]).reshape([512]), true); // by way of f32[8, 16, 4]
    /// }
    /// ```
    #[inline]
    pub fn permute(self, order: impl Shape) -> Tile<T> {
        let _ = order;
        stub()
    }

    /// Broadcasts the tile to a larger shape, as operators do by themselves: axes are added on the left, and an axis of
    /// extent 1 is repeated.
    ///
    /// # Compile errors
    /// An extent is not a compile-time constant, or not a power of two times an odd number of at most 31; or the tile's shape does not broadcast to it.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn repeat_row(x: Ptr<f32>, out: PtrMut<f32>) {
    ///     let rows = load(x + arange(0, 64), true).broadcast_to([4, 64]);
    ///     store(out + arange(0, 256), rows.reshape([256]), true);
    /// }
    /// ```
    #[inline]
    pub fn broadcast_to(self, shape: impl Shape) -> Tile<T> {
        let _ = shape;
        stub()
    }
}

/// The extents of a tile's axes, or their order.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of axes",
    label = "not an array of `i32`",
    note = "a shape is written as an array of `i32`: `[64]`, `[BM, BN]`"
)]
pub trait Shape {}

#[diagnostic::do_not_recommend]
impl<const RANK: usize> Shape for [i32; RANK] {}
