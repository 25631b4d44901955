//! Views: memory with a shape and strides, to which every access is bounds-checked.

use super::{Int, Join, Tile, stub};
use crate::Element;
use std::marker::PhantomData;

/// A view that a kernel reads: memory with `RANK` axes (1 to 5), their extents and their strides.
///
/// As a parameter it takes a view of a device buffer, such as `buffer.view([m, k])?`. A kernel whose parameters are views
/// and scalars is launched without `unsafe`: accesses out of bounds of a view are neither read nor written.
///
/// # Compile errors
/// The rank is not a literal from 1 to 5.
///
/// ```
/// use triton::prelude::*;
///
/// /// Every program copies a square of 32 times 32 elements; at the edges, the part of it that exists.
/// #[triton::kernel(T = [f32, f16])]
/// fn copy<T: Num>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
///     let (i, j) = (program_id(0) * 32, program_id(1) * 32);
///     out.store([i, j], x.load([i, j], [32, 32]));
/// }
/// ```
pub struct Tensor<T, const RANK: usize>(PhantomData<T>);

/// A view that a kernel reads and writes.
///
/// As [`Tensor`]; as a parameter it takes a mutable view, such as `buffer.view_mut([m, n])?`.
///
/// # Compile errors
/// Those of [`Tensor`].
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn double(x: TensorMut<f32, 1>) {
///     let i = program_id(0) * 256;
///     x.store([i], x.load([i], [256]) * 2.0);
/// }
/// ```
pub struct TensorMut<T, const RANK: usize>(PhantomData<T>);

macro_rules! views {
    ($($name:ident)*) => { $(
        impl<T, const RANK: usize> Clone for $name<T, RANK> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, const RANK: usize> Copy for $name<T, RANK> {}

        impl<T: Element, const RANK: usize> $name<T, RANK> {
            /// The number of elements along an axis.
            ///
            /// # Compile errors
            /// `axis` is not a compile-time constant, or the view has no such axis.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// #[triton::kernel]
            /// fn row_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
            ///     let i = program_id(0) * 16;
            ///     let mut acc = zeros::<f32>([16]);
            ///     for j in (0..x.dim(1)).step_by(64) {
            ///         acc += sum_axis(x.load([i, j], [16, 64]), 1);
            ///     }
            ///     out.store([i], acc);
            /// }
            /// ```
            #[inline]
            pub fn dim(self, axis: i32) -> i32 {
                let _ = axis;
                stub()
            }

            /// The stride: the distance of two neighbours along an axis, in elements. Along an axis of one element it is 0, or 1 if
            /// it is the last.
            ///
            /// # Compile errors
            /// `axis` is not a compile-time constant, or the view has no such axis.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// #[triton::kernel]
            /// fn layout(x: Tensor<f32, 2>, strides: TensorMut<i64, 1>) {
            ///     strides.store([0], full::<i64>([1], x.stride(0)));
            ///     strides.store([1], full::<i64>([1], x.stride(1)));
            /// }
            /// ```
            #[inline]
            pub fn stride(self, axis: i32) -> i64 {
                let _ = axis;
                stub()
            }

            /// Reads a tile of `shape` whose first element is at `at`.
            ///
            /// Elements out of bounds, before the first or past the last along any axis, are 0 (`false`).
            ///
            /// # Compile errors
            /// `at` or `shape` does not have one entry per axis; an entry of `at` is not an `i32` or `i64` scalar; an
            /// extent is not a compile-time constant, or not a power of two times an odd number of at most 31.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// #[triton::kernel]
            /// fn shift(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
            ///     let i = program_id(0) * 256;
            ///     out.store([i], x.load([i - 1], [256])); // the first element becomes 0
            /// }
            /// ```
            #[inline]
            pub fn load<I: Position>(self, at: [I; RANK], shape: [i32; RANK]) -> Tile<T> {
                let _ = (at, shape);
                stub()
            }

            /// Reads a tile of `shape` whose first element is at `at`, with another value for elements out of bounds.
            ///
            /// As [`load`](Self::load), but elements out of bounds are `other`, a scalar or a tile that broadcasts to
            /// `shape`: the identity of what follows, such as 1 for a divisor or −∞ for a maximum.
            ///
            /// # Compile errors
            /// Those of [`load`](Self::load); `other` is not of the view's element type, or does not broadcast to `shape`.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// /// Integer quotients: past the end of the views, 0 would be divided by 0.
            /// #[triton::kernel]
            /// fn divide(a: Tensor<i32, 1>, b: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
            ///     let i = program_id(0) * 256;
            ///     out.store([i], a.load([i], [256]) / b.load_or([i], [256], 1));
            /// }
            /// ```
            #[inline]
            pub fn load_or<I: Position, V>(self, at: [I; RANK], shape: [i32; RANK], other: V) -> Tile<T>
            where
                Tile<T>: Join<V>,
            {
                let _ = (at, shape, other);
                stub()
            }
        }
    )* };
}

views!(Tensor TensorMut);

impl<T: Element, const RANK: usize> TensorMut<T, RANK> {
    /// Writes a tile whose first element is at `at`.
    ///
    /// Elements out of bounds are not written. If programs write different values to one element, one of them
    /// stays.
    ///
    /// # Compile errors
    /// `at` does not have one `i32` or `i64` scalar per axis; `value` is not a tile of the view's
    /// element type with as many axes as the view; the view is a [`Tensor`].
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn transpose(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    ///     let (i, j) = (program_id(0) * 32, program_id(1) * 32);
    ///     out.store([j, i], x.load([i, j], [32, 32]).transpose());
    /// }
    /// ```
    #[inline]
    pub fn store<I: Position>(self, at: [I; RANK], value: Tile<T>) {
        let _ = (at, value);
        stub()
    }
}

macro_rules! updates {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {
        impl<T: Element, const RANK: usize> TensorMut<T, RANK> { $(
            $(#[doc = $doc])*
            ///
            /// As the function of this name in [`lang`](crate::lang), of a tile whose first element is at `at`.
            /// Elements out of bounds are not accessed, and the result for them is 0.
            ///
            /// # Compile errors
            /// `at` does not have one `i32` or `i64` scalar per axis; `value` is not a tile of the
            /// view's element type with as many axes as the view, or the update is not defined for that type; the view is a
            /// [`Tensor`].
            #[inline]
            pub fn $name<I: Position>(self, at: [I; RANK], value: Tile<T>) -> Tile<T> {
                let _ = (at, value);
                stub()
            }
        )* }
    };
}

updates! {
    /// Adds a tile to elements, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// sums[j] += the sum of column j, by one program for each square of 64 times 64 elements.
    /// #[triton::kernel]
    /// fn column_sums(x: Tensor<f32, 2>, sums: TensorMut<f32, 1>) {
    ///     let (i, j) = (program_id(0) * 64, program_id(1) * 64);
    ///     sums.atomic_add([j], sum_axis(x.load([i, j], [64, 64]), 0));
    /// }
    /// ```
    atomic_add
    /// Replaces elements by those of a tile where these are smaller, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// smallest[j] = the smallest element of column j, where it is smaller than what was there.
    /// #[triton::kernel]
    /// fn column_minima(x: Tensor<i32, 2>, smallest: TensorMut<i32, 1>) {
    ///     let (i, j) = (program_id(0) * 64, program_id(1) * 64);
    ///     let inside = (arange(0, 64) + i < x.dim(0)).expand_dims(1);
    ///     let v = select(inside, x.load([i, j], [64, 64]), i32::MAX);
    ///     smallest.atomic_min([j], min_axis(v, 0));
    /// }
    /// ```
    atomic_min
    /// Replaces elements by those of a tile where these are larger, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// top[0] becomes the largest length.
    /// #[triton::kernel]
    /// fn longest(lengths: Tensor<u32, 1>, top: TensorMut<u32, 1>) {
    ///     let v = lengths.load([program_id(0) * 256], [256]);
    ///     top.atomic_max([0], full([1], max(v)));
    /// }
    /// ```
    atomic_max
    /// Replaces elements by the bitwise `&` of them and a tile, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// common[k] keeps the bits that word k of every row has.
    /// #[triton::kernel]
    /// fn intersect(rows: Tensor<i64, 2>, common: TensorMut<i64, 1>) {
    ///     let row = rows.load([program_id(0), 0], [1, 128]);
    ///     common.atomic_and([0], row.reshape([128]));
    /// }
    /// ```
    atomic_and
    /// Replaces elements by the bitwise `|` of them and a tile, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// all[k] gets the bits that word k of any row has.
    /// #[triton::kernel]
    /// fn unite(rows: Tensor<i64, 2>, all: TensorMut<i64, 1>) {
    ///     let row = rows.load([program_id(0), 0], [1, 128]);
    ///     all.atomic_or([0], row.reshape([128]));
    /// }
    /// ```
    atomic_or
    /// Replaces elements by the bitwise `^` of them and a tile, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// parity[k] is the parity of each bit of word k over all rows.
    /// #[triton::kernel]
    /// fn parity(rows: Tensor<i64, 2>, parity: TensorMut<i64, 1>) {
    ///     let row = rows.load([program_id(0), 0], [1, 128]);
    ///     parity.atomic_xor([0], row.reshape([128]));
    /// }
    /// ```
    atomic_xor
    /// Replaces elements by those of a tile, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Every program takes what is in the slots, and leaves -1 there.
    /// #[triton::kernel]
    /// fn take(slots: TensorMut<i32, 1>, taken: TensorMut<i32, 2>) {
    ///     let found = slots.atomic_xchg([0], full([64], -1));
    ///     taken.store([program_id(0), 0], found.expand_dims(0));
    /// }
    /// ```
    atomic_xchg
}

impl<T: Element, const RANK: usize> TensorMut<T, RANK> {
    /// Replaces elements by those of a tile where they are equal to `compare`, and returns their old values.
    ///
    /// As [`atomic_cas`](crate::lang::atomic_cas), of a tile whose first element is at `at`; `compare` broadcasts to
    /// the shape of `value`. Elements out of bounds are not accessed, and the result for them is 0.
    ///
    /// # Compile errors
    /// Those of [`atomic_add`](TensorMut::atomic_add), and `compare` is of another element type or has a larger shape.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn claim(owner: TensorMut<i32, 1>, before: TensorMut<i32, 2>) {
    ///     let me = program_id(0);
    ///     let found = owner.atomic_cas([0], -1, full([64], me));
    ///     before.store([me, 0], found.expand_dims(0));
    /// }
    /// ```
    #[inline]
    pub fn atomic_cas<I: Position, C>(self, at: [I; RANK], compare: C, value: Tile<T>) -> Tile<T>
    where
        Tile<T>: Join<C>,
    {
        let _ = (at, compare, value);
        stub()
    }
}

/// A coordinate in a view.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a coordinate in a view cannot be `{Self}`",
    label = "not a coordinate in a view",
    note = "coordinates are scalars of `i32` or `i64`, all of the same type"
)]
pub trait Position: Int {}

#[diagnostic::do_not_recommend]
impl Position for i32 {}
#[diagnostic::do_not_recommend]
impl Position for i64 {}
