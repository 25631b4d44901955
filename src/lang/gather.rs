//! Gathers and scatters: accesses to a view at one index per element.

use super::view::Position;
use super::{Join, Mask, Tensor, TensorMut, Tile, Value, stub};
use crate::Element;

macro_rules! gathers {
    ($($name:ident)*) => { $(
        impl<T: Element, const RANK: usize> $name<T, RANK> {
            /// Reads one element: the one at `at`, a scalar for each axis.
            ///
            /// An element out of bounds is 0 (`false`).
            ///
            /// # Compile errors
            /// `at` does not have one `i32` or `i64` scalar per axis.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// /// Copies a page of 256 elements to where a table says.
            /// #[triton::kernel]
            /// fn unpage(pages: Tensor<f32, 2>, table: Tensor<i32, 1>, out: TensorMut<f32, 2>) {
            ///     let i = program_id(0);
            ///     out.store([i, 0], pages.load([table.get([i]), 0], [1, 256]));
            /// }
            /// ```
            #[inline]
            pub fn get<I: Position>(self, at: [I; RANK]) -> T {
                let _ = at;
                stub()
            }

            /// Reads the elements at an index per element.
            ///
            /// `at` has an index for each axis, a scalar or a tile of `i32` or `i64`: an array, or a tuple where they are of
            /// different types. The indices broadcast to one shape, which `mask` broadcasts to and the result has; of scalars
            /// alone it is a scalar. Every index is checked against the extent of its axis: what is out of bounds is not
            /// read and is 0 (`false`), as is what `mask` excludes; `true` excludes nothing.
            ///
            /// Where the index of the last axis counts up by one and neighbours in memory are that axis, such as
            /// `arange(0, 64)`, elements are read as vectors, as by [`load`](Self::load).
            ///
            /// # Compile errors
            /// `at` does not have one index per axis; an index is not of `i32` or `i64`; shapes do not broadcast; `mask` is not
            /// of `bool`.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// /// Rows of a table of embeddings: row i of the result is row `words[i]`.
            /// #[triton::kernel]
            /// fn embed(table: Tensor<f32, 2>, words: Tensor<i32, 1>, out: TensorMut<f32, 2>) {
            ///     let i = program_id(0) * 16;
            ///     let rows = words.load([i], [16]).expand_dims(1);
            ///     for j in (0..table.dim(1)).step_by(64) {
            ///         let columns = (arange(0, 64) + j).expand_dims(0);
            ///         out.store([i, j], table.gather([rows, columns], true));
            ///     }
            /// }
            /// ```
            #[inline]
            pub fn gather<C: Coordinates<RANK>>(self, at: C, mask: impl Mask) -> C::Out<T> {
                let _ = (at, mask);
                stub()
            }

            /// Reads the elements at an index per element, with another value for those that are not read.
            ///
            /// As [`gather`](Self::gather), but what is out of bounds, or excluded by `mask`, is `other`, a scalar or a tile that
            /// broadcasts to the result's shape.
            ///
            /// # Compile errors
            /// Those of [`gather`](Self::gather); `other` is not of the view's element type, or has a larger shape.
            ///
            /// ```
            /// use triton::prelude::*;
            ///
            /// /// The largest of the listed elements; an index of −1 lists none.
            /// #[triton::kernel]
            /// fn largest(x: Tensor<f32, 1>, listed: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
            ///     let i = program_id(0);
            ///     let v = x.gather_or([listed.load([i * 128], [128])], true, f32::NEG_INFINITY);
            ///     out.store([i], full([1], max(v)));
            /// }
            /// ```
            #[inline]
            pub fn gather_or<C: Coordinates<RANK>, V>(self, at: C, mask: impl Mask, other: V) -> C::Out<T>
            where
                C::Out<T>: Join<V>,
            {
                let _ = (at, mask, other);
                stub()
            }
        }
    )* };
}

gathers!(Tensor TensorMut);

impl<T: Element, const RANK: usize> TensorMut<T, RANK> {
    /// Writes elements at an index per element.
    ///
    /// Indices and `mask` are those of [`gather`](Self::gather), and `value` broadcasts to their shape. Elements out of bounds are not
    /// written, nor those that `mask` excludes. If several elements have the same index, or programs write different values
    /// to one element, one of them stays; the simulator reports that as a race.
    ///
    /// # Compile errors
    /// Those of [`gather`](Self::gather); `value` is not of the view's element type, or has a larger shape; the view is a
    /// [`Tensor`].
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Undoes a permutation: element `order[i]` of the result is element i.
    /// #[triton::kernel]
    /// fn unpermute(x: Tensor<f32, 1>, order: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    ///     let i = program_id(0) * 256;
    ///     let inside = arange(0, 256) + i < x.dim(0);
    ///     out.scatter([order.load([i], [256])], x.load([i], [256]), inside);
    /// }
    /// ```
    #[inline]
    pub fn scatter<C: Coordinates<RANK>, V>(self, at: C, value: V, mask: impl Mask)
    where
        C::Out<T>: Join<V>,
    {
        let _ = (at, value, mask);
        stub()
    }
}

macro_rules! updates {
    ($($(#[doc = $doc:literal])* $name:ident, $of:literal)*) => {
        impl<T: Element, const RANK: usize> TensorMut<T, RANK> { $(
            $(#[doc = $doc])*
            ///
            #[doc = concat!("As [`", $of, "`](Self::", $of, "), with the indices and the mask of [`gather`](Self::gather); `value`")]
            /// broadcasts to their shape. Elements that are out of bounds or that `mask` excludes are not accessed, and the result for
            /// them is 0. If several elements have the same index, each value counts.
            ///
            /// # Compile errors
            /// Those of [`scatter`](Self::scatter), and the update is not defined for the view's element type.
            #[inline]
            pub fn $name<C: Coordinates<RANK>, V>(self, at: C, value: V, mask: impl Mask) -> C::Out<T>
            where
                C::Out<T>: Join<V>,
            {
                let _ = (at, value, mask);
                stub()
            }
        )* }
    };
}

updates! {
    /// Adds to elements at an index per element, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn histogram(x: Tensor<i32, 1>, counts: TensorMut<u32, 1>) {
    ///     let i = program_id(0) * 256;
    ///     let inside = arange(0, 256) + i < x.dim(0);
    ///     counts.atomic_add_at([x.load([i], [256])], 1, inside);
    /// }
    /// ```
    atomic_add_at, "atomic_add"
    /// Replaces elements at an index per element by a value where that is smaller, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// first[k] becomes the first index at which `key` is k.
    /// #[triton::kernel]
    /// fn first(key: Tensor<i32, 1>, first: TensorMut<i32, 1>) {
    ///     let i = arange(0, 256) + program_id(0) * 256;
    ///     first.atomic_min_at([key.gather([i], true)], i, i < key.dim(0));
    /// }
    /// ```
    atomic_min_at, "atomic_min"
    /// Replaces elements at an index per element by a value where that is larger, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// last[k] becomes the last index at which `key` is k.
    /// #[triton::kernel]
    /// fn last(key: Tensor<i32, 1>, last: TensorMut<i32, 1>) {
    ///     let i = arange(0, 256) + program_id(0) * 256;
    ///     last.atomic_max_at([key.gather([i], true)], i, i < key.dim(0));
    /// }
    /// ```
    atomic_max_at, "atomic_max"
    /// Replaces elements at an index per element by the bitwise `&` of them and a value, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Removes the listed numbers from a set of bits.
    /// #[triton::kernel]
    /// fn remove(listed: Tensor<u32, 1>, set: TensorMut<u32, 1>) {
    ///     let i = program_id(0) * 256;
    ///     let k = listed.load([i], [256]);
    ///     let inside = arange(0, 256) + i < listed.dim(0);
    ///     set.atomic_and_at([(k / 32).to::<i32>()], !(full::<u32>([256], 1) << (k % 32)), inside);
    /// }
    /// ```
    atomic_and_at, "atomic_and"
    /// Replaces elements at an index per element by the bitwise `|` of them and a value, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Adds the listed numbers to a set of bits.
    /// #[triton::kernel]
    /// fn insert(listed: Tensor<u32, 1>, set: TensorMut<u32, 1>) {
    ///     let i = program_id(0) * 256;
    ///     let k = listed.load([i], [256]);
    ///     let inside = arange(0, 256) + i < listed.dim(0);
    ///     set.atomic_or_at([(k / 32).to::<i32>()], full::<u32>([256], 1) << (k % 32), inside);
    /// }
    /// ```
    atomic_or_at, "atomic_or"
    /// Replaces elements at an index per element by the bitwise `^` of them and a value, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Flips the listed bits.
    /// #[triton::kernel]
    /// fn flip(listed: Tensor<u32, 1>, set: TensorMut<u32, 1>) {
    ///     let i = program_id(0) * 256;
    ///     let k = listed.load([i], [256]);
    ///     let inside = arange(0, 256) + i < listed.dim(0);
    ///     set.atomic_xor_at([(k / 32).to::<i32>()], full::<u32>([256], 1) << (k % 32), inside);
    /// }
    /// ```
    atomic_xor_at, "atomic_xor"
    /// Replaces elements at an index per element by a value, and returns their old values.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Pushes each element to the front of the list of its key: what was in front comes next.
    /// #[triton::kernel]
    /// fn push(key: Tensor<i32, 1>, front: TensorMut<i32, 1>, next: TensorMut<i32, 1>) {
    ///     let i = arange(0, 256) + program_id(0) * 256;
    ///     let before = front.atomic_xchg_at([key.gather([i], true)], i, i < key.dim(0));
    ///     next.scatter([i], before, true);
    /// }
    /// ```
    atomic_xchg_at, "atomic_xchg"
}

impl<T: Element, const RANK: usize> TensorMut<T, RANK> {
    /// Replaces elements at an index per element by a value where they are equal to `compare`, and returns their old values.
    ///
    /// As [`atomic_add_at`](Self::atomic_add_at); `compare` broadcasts to the shape of the indices, too.
    ///
    /// # Compile errors
    /// Those of [`atomic_add_at`](Self::atomic_add_at), and `compare` is of another element type or has a larger shape.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Each element asks for the slot that it hashes to, and notes who has it.
    /// #[triton::kernel]
    /// fn claim(hash: Tensor<i32, 1>, slots: TensorMut<i32, 1>, before: TensorMut<i32, 1>) {
    ///     let i = arange(0, 256) + program_id(0) * 256;
    ///     before.scatter([i], slots.atomic_cas_at([hash.gather([i], true)], -1, i, i < hash.dim(0)), true);
    /// }
    /// ```
    #[inline]
    pub fn atomic_cas_at<C: Coordinates<RANK>, E, V>(self, at: C, compare: E, value: V, mask: impl Mask) -> C::Out<T>
    where
        C::Out<T>: Join<E> + Join<V>,
    {
        let _ = (at, compare, value, mask);
        stub()
    }
}

/// An index along one axis of a view: a scalar or a tile.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an index of a view cannot be `{Self}`",
    label = "not an index of a view",
    note = "an index is a scalar or a tile of `i32` or `i64`"
)]
pub trait Index {
    /// What is read at such an index.
    type Out<T: Element>: Value;
    /// This index, and another one: a tile if one of them is.
    type With<I: Index>: Index;
}

macro_rules! indices {
    ($($t:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Index for $t {
            type Out<T: Element> = T;
            type With<I: Index> = I;
        }
        #[diagnostic::do_not_recommend]
        impl Index for Tile<$t> {
            type Out<T: Element> = Tile<T>;
            type With<I: Index> = Self;
        }
    )* };
}

indices!(i32 i64);

/// An index for each axis of a view: an array, or a tuple where they are of different types.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a view with {RANK} axes has no elements at `{Self}`",
    label = "not an index per axis",
    note = "write an array or a tuple with an index for each axis, each a scalar or a tile of `i32` or `i64`"
)]
pub trait Coordinates<const RANK: usize> {
    /// What is read there.
    type Out<T: Element>: Value;
}

#[diagnostic::do_not_recommend]
impl<I: Index, const RANK: usize> Coordinates<RANK> for [I; RANK] {
    type Out<T: Element> = I::Out<T>;
}

macro_rules! tuples {
    ($($rank:literal $first:ident $($rest:ident)*;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<$first: Index, $($rest: Index),*> Coordinates<$rank> for ($first, $($rest),*) {
            type Out<T: Element> = <tuples!(@with $first $($rest)*) as Index>::Out<T>;
        }
    )* };
    (@with $first:ident) => { $first };
    (@with $first:ident $($rest:ident)+) => { <$first as Index>::With<tuples!(@with $($rest)+)> };
}

tuples! {
    1 A;
    2 A B;
    3 A B C;
    4 A B C D;
    5 A B C D E;
}
