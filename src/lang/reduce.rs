//! Reductions: from many elements to one, over a whole tile or along an axis.

use super::{Num, Tile, stub};
use crate::Element;

/// The sum of all elements of a tile: a number of the same type.
///
/// Integers wrap. The order in which floats are added is not specified; a narrow type is summed as it is, so convert
/// before: `sum(x.to::<f32>())`.
///
/// # Compile errors
/// `x` is not a tile, or not of numbers.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn sums(x: Ptr<f32>, out: PtrMut<f32>) {
///     let row = program_id(0);
///     let v = load(x + row * 256 + arange(0, 256), true);
///     store(out + row, sum(v), true);
/// }
/// ```
#[inline]
pub fn sum<T: Num>(x: Tile<T>) -> T {
    let _ = x;
    stub()
}

/// The sums along an axis: a tile without that axis.
///
/// Of a tile `f32[16, 64]`, `sum_axis(x, 1)` is `f32[16]`. Otherwise as [`sum`].
///
/// # Compile errors
/// `x` is not a tile of numbers with at least two axes; `axis` is not a compile-time constant, or `x` has no such axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn row_sums(x: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), sum_axis(v, 1), true);
/// }
/// ```
#[inline]
pub fn sum_axis<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// The largest element of a tile: a number of the same type.
///
/// NaN only if every element is NaN, as with [`maximum`](crate::lang::maximum), which compares two values.
///
/// # Compile errors
/// `x` is not a tile, or not of numbers.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn largest(x: Ptr<f32>, out: PtrMut<f32>) {
///     let row = program_id(0);
///     let v = load(x + row * 256 + arange(0, 256), true);
///     store(out + row, max(v), true);
/// }
/// ```
#[inline]
pub fn max<T: Num>(x: Tile<T>) -> T {
    let _ = x;
    stub()
}

/// The largest elements along an axis: a tile without that axis.
///
/// Otherwise as [`max`].
///
/// # Compile errors
/// `x` is not a tile of numbers with at least two axes; `axis` is not a compile-time constant, or `x` has no such axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn largest_of_rows(x: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), max_axis(v, 1), true);
/// }
/// ```
#[inline]
pub fn max_axis<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// The smallest element of a tile: a number of the same type.
///
/// NaN only if every element is NaN, as with [`minimum`](crate::lang::minimum), which compares two values.
///
/// # Compile errors
/// `x` is not a tile, or not of numbers.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn smallest(x: Ptr<f32>, out: PtrMut<f32>) {
///     let row = program_id(0);
///     let v = load(x + row * 256 + arange(0, 256), true);
///     store(out + row, min(v), true);
/// }
/// ```
#[inline]
pub fn min<T: Num>(x: Tile<T>) -> T {
    let _ = x;
    stub()
}

/// The smallest elements along an axis: a tile without that axis.
///
/// Otherwise as [`min`].
///
/// # Compile errors
/// `x` is not a tile of numbers with at least two axes; `axis` is not a compile-time constant, or `x` has no such axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn smallest_of_rows(x: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), min_axis(v, 1), true);
/// }
/// ```
#[inline]
pub fn min_axis<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// The position of the largest element of a tile: its index in row-major order, from 0.
///
/// The first one on a tie, as of −0 and +0, which [`max`] and [`min`] tell apart: elements are compared as `<` compares them. A NaN only if
/// every element is NaN.
///
/// # Compile errors
/// `x` is not a tile, or not of numbers.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn find_largest(x: Ptr<f32>, out: PtrMut<i32>) {
///     let row = program_id(0);
///     let v = load(x + row * 256 + arange(0, 256), true);
///     store(out + row, argmax(v), true);
/// }
/// ```
#[inline]
pub fn argmax<T: Num>(x: Tile<T>) -> i32 {
    let _ = x;
    stub()
}

/// The positions of the largest elements along an axis: their indices along it, from 0, in a tile without that axis.
///
/// Otherwise as [`argmax`].
///
/// # Compile errors
/// `x` is not a tile of numbers with at least two axes; `axis` is not a compile-time constant, or `x` has no such axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn find_largest_of_rows(x: Ptr<f32>, out: PtrMut<i32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), argmax_axis(v, 1), true);
/// }
/// ```
#[inline]
pub fn argmax_axis<T: Num>(x: Tile<T>, axis: i32) -> Tile<i32> {
    let _ = (x, axis);
    stub()
}

/// The position of the smallest element of a tile: its index in row-major order, from 0.
///
/// The first one on a tie, as of −0 and +0, which [`max`] and [`min`] tell apart: elements are compared as `<` compares them. A NaN only if
/// every element is NaN.
///
/// # Compile errors
/// `x` is not a tile, or not of numbers.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn find_smallest(x: Ptr<f32>, out: PtrMut<i32>) {
///     let row = program_id(0);
///     let v = load(x + row * 256 + arange(0, 256), true);
///     store(out + row, argmin(v), true);
/// }
/// ```
#[inline]
pub fn argmin<T: Num>(x: Tile<T>) -> i32 {
    let _ = x;
    stub()
}

/// The positions of the smallest elements along an axis: their indices along it, from 0, in a tile without that axis.
///
/// Otherwise as [`argmin`].
///
/// # Compile errors
/// `x` is not a tile of numbers with at least two axes; `axis` is not a compile-time constant, or `x` has no such axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn find_smallest_of_rows(x: Ptr<f32>, out: PtrMut<i32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), argmin_axis(v, 1), true);
/// }
/// ```
#[inline]
pub fn argmin_axis<T: Num>(x: Tile<T>, axis: i32) -> Tile<i32> {
    let _ = (x, axis);
    stub()
}

/// Whether any element of a mask is `true`: one `bool`, which can be the condition of an `if` or `while`.
///
/// # Compile errors
/// `mask` is not a tile of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn halve_until_below(x: PtrMut<f32>) {
///     let p = x + program_id(0) * 256 + arange(0, 256);
///     let mut v = load(p, true);
///     while any(v > 1.0) {
///         v *= 0.5;
///     }
///     store(p, v, true);
/// }
/// ```
#[inline]
pub fn any(mask: Tile<bool>) -> bool {
    let _ = mask;
    stub()
}

/// Whether any element of a mask is `true`, along an axis: a tile of `bool` without that axis.
///
/// # Compile errors
/// `mask` is not a tile of `bool` with at least two axes; `axis` is not a compile-time constant, or `mask` has no such
/// axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn rows_with_any(x: Ptr<f32>, out: PtrMut<bool>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), any_axis(v > 0.0, 1), true);
/// }
/// ```
#[inline]
pub fn any_axis(mask: Tile<bool>, axis: i32) -> Tile<bool> {
    let _ = (mask, axis);
    stub()
}

/// Whether every element of a mask is `true`: one `bool`, which can be the condition of an `if` or `while`.
///
/// # Compile errors
/// `mask` is not a tile of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn halve_once_above(x: PtrMut<f32>) {
///     let p = x + program_id(0) * 256 + arange(0, 256);
///     let mut v = load(p, true);
///     if all(v > 1.0) {
///         v *= 0.5;
///     }
///     store(p, v, true);
/// }
/// ```
#[inline]
pub fn all(mask: Tile<bool>) -> bool {
    let _ = mask;
    stub()
}

/// Whether every element of a mask is `true`, along an axis: a tile of `bool` without that axis.
///
/// # Compile errors
/// `mask` is not a tile of `bool` with at least two axes; `axis` is not a compile-time constant, or `mask` has no such
/// axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn rows_with_all(x: Ptr<f32>, out: PtrMut<bool>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), all_axis(v > 0.0, 1), true);
/// }
/// ```
#[inline]
pub fn all_axis(mask: Tile<bool>, axis: i32) -> Tile<bool> {
    let _ = (mask, axis);
    stub()
}

/// Reduces all elements of a tile by a function, to a number or a tuple of them.
///
/// `f` must be associative and commutative: the order in which elements are combined is not specified. It takes two
/// elements, or, of a tuple of two to four tiles of one shape, two tuples of elements, and is made of operations on
/// scalars.
///
/// # Compile errors
/// `x` is not a tile, or not a tuple of two to four tiles of one shape; `f` is not a closure, or yields values of other
/// types than it takes, or does more than compute with scalars.
///
/// ```
/// use triton::prelude::*;
///
/// /// The mean and the variance of each row, in one pass (Welford's method, in the form of Chan et al.).
/// #[triton::kernel]
/// fn moments(x: Ptr<f32>, mean: PtrMut<f32>, variance: PtrMut<f32>) {
///     let row = program_id(0);
///     let v = load(x + row * 256 + arange(0, 256), true);
///     let (m, s, n) = reduce((v, zeros::<f32>([256]), full([256], 1.0)), |(m, s, n), (mm, ss, nn)| {
///         let (d, count) = (mm - m, n + nn);
///         (m + d * nn / count, s + ss + d * d * n * nn / count, count)
///     });
///     store(mean + row, m, true);
///     store(variance + row, s / n, true);
/// }
/// ```
#[inline]
pub fn reduce<X: Reducible>(x: X, f: impl Fn(X::Elems, X::Elems) -> X::Elems) -> X::Elems {
    let _ = (x, f);
    stub()
}

/// Reduces the elements along an axis by a function, to a tile without that axis, or a tuple of them.
///
/// `f` must be associative and commutative: the order in which elements are combined is not specified. It takes two
/// elements, or, of a tuple of two to four tiles of one shape, two tuples of elements, and is made of operations on
/// scalars.
///
/// # Compile errors
/// Those of [`reduce`]; `x` has fewer than two axes; `axis` is not a compile-time constant, or `x` has no such axis.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn products(x: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     let v = load(x + i, true);
///     store(out + arange(0, 16), reduce_axis(v, 1, |a, b| a * b), true);
/// }
/// ```
#[inline]
pub fn reduce_axis<X: Reducible>(x: X, axis: i32, f: impl Fn(X::Elems, X::Elems) -> X::Elems) -> X {
    let _ = (x, axis, f);
    stub()
}

/// A tile, or a tuple of tiles.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "cannot reduce `{Self}`",
    label = "neither a tile nor a tuple of two to four tiles"
)]
pub trait Reducible {
    /// An element, or a tuple of elements.
    type Elems;
}

#[diagnostic::do_not_recommend]
impl<A: Element> Reducible for Tile<A> {
    type Elems = A;
}
#[diagnostic::do_not_recommend]
impl<A: Element, B: Element> Reducible for (Tile<A>, Tile<B>) {
    type Elems = (A, B);
}
#[diagnostic::do_not_recommend]
impl<A: Element, B: Element, C: Element> Reducible for (Tile<A>, Tile<B>, Tile<C>) {
    type Elems = (A, B, C);
}
#[diagnostic::do_not_recommend]
impl<A: Element, B: Element, C: Element, D: Element> Reducible for (Tile<A>, Tile<B>, Tile<C>, Tile<D>) {
    type Elems = (A, B, C, D);
}
