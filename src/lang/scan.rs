//! Scans: of each element along an axis, what it and all before it come to.
//!
//! # The order
//! It is fixed, the same on every device, for every `num_warps` and whatever the compiler chooses: results are equal to the bit.
//! For each bit of the index along the axis, lowest first, every element `i` whose bit is set becomes `f(x[j], x[i])`, where `j` is
//! `i` with that bit clear and all bits below it set; all elements of one bit at once (Sklansky, "Conditional-Sum Addition
//! Logic", IRE Transactions on Electronic Computers, 1960). Of 8 elements `x[5]` so becomes `f(f(f(x0, x1), f(x2, x3)), f(x4, x5))`.
//! [`scan_reverse`] counts the index from the end.

use super::reduce::Reducible;
use super::{Num, Tile, stub};

/// The sums of each element and all before it along an axis: a tile of the same type.
///
/// Integers wrap. Floats are added in the order of [`scan`], which every device shares; a narrow type is summed as it is, so
/// convert before: `cumsum(x.to::<f32>(), 0)`.
///
/// # Compile errors
/// `x` is not a tile of numbers; `axis` is not a compile-time constant, or `x` has no such axis, or an extent along it that is not a power of
/// two.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn running_totals(x: Ptr<f32>, out: PtrMut<f32>) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, cumsum(load(x + i, true), 0), true);
/// }
/// ```
#[inline]
pub fn cumsum<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// The products of each element and all before it along an axis: a tile of the same type.
///
/// Integers wrap. Otherwise as [`cumsum`].
///
/// # Compile errors
/// `x` is not a tile of numbers; `axis` is not a compile-time constant, or `x` has no such axis, or an extent along it that is not a power of
/// two.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn growth(rates: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     store(out + i, cumprod(1.0 + load(rates + i, true), 1), true);
/// }
/// ```
#[inline]
pub fn cumprod<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// The largest of each element and all before it along an axis: a tile of the same type.
///
/// NaN only if every one of them is NaN, as with [`maximum`](crate::lang::maximum), which compares two values.
///
/// # Compile errors
/// `x` is not a tile of numbers; `axis` is not a compile-time constant, or `x` has no such axis, or an extent along it that is not a power of
/// two.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn high_water_marks(levels: Ptr<f32>, out: PtrMut<f32>) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, cummax(load(levels + i, true), 0), true);
/// }
/// ```
#[inline]
pub fn cummax<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// The smallest of each element and all before it along an axis: a tile of the same type.
///
/// NaN only if every one of them is NaN, as with [`minimum`](crate::lang::minimum), which compares two values.
///
/// # Compile errors
/// `x` is not a tile of numbers; `axis` is not a compile-time constant, or `x` has no such axis, or an extent along it that is not a power of
/// two.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn low_water_marks(levels: Ptr<f32>, out: PtrMut<f32>) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, cummin(load(levels + i, true), 0), true);
/// }
/// ```
#[inline]
pub fn cummin<T: Num>(x: Tile<T>, axis: i32) -> Tile<T> {
    let _ = (x, axis);
    stub()
}

/// Combines each element with all before it along an axis by a function: an inclusive scan, a tile of the same shape, or a
/// tuple of them.
///
/// `f` must be associative, but for rounding; it need not be commutative: what is before comes first. It takes two elements, or, of a
/// tuple of two to four tiles of one shape, two tuples of elements, and is made of operations on scalars.
///
/// # The order
/// It is fixed, the same on every device, for every `num_warps` and whatever the compiler chooses: results are equal to the bit.
/// For each bit of the index along the axis, lowest first, every element `i` whose bit is set becomes `f(x[j], x[i])`, where `j` is
/// `i` with that bit clear and all bits below it set; all elements of one bit at once (Sklansky, "Conditional-Sum Addition
/// Logic", IRE Transactions on Electronic Computers, 1960).
///
/// # Compile errors
/// `x` is not a tile, or not a tuple of two to four tiles of one shape; `axis` is not a compile-time constant, or `x` has no
/// such axis, or an extent along it that is not a power of two; `f` is not a closure, or yields values of other types than it takes, or does
/// more than compute with scalars.
///
/// ```
/// use triton::prelude::*;
///
/// /// y[t] = a[t] · y[t - 1] + b[t], from y = 0 on: a recurrence, as a scan of its steps.
/// #[triton::kernel]
/// fn recurrence(a: Ptr<f32>, b: Ptr<f32>, y: PtrMut<f32>) {
///     let t = arange(0, 256);
///     let steps = (load(a + t, true), load(b + t, true));
///     // One step after another is a step.
///     let (_, done) = scan(steps, 0, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
///     store(y + t, done, true);
/// }
/// ```
#[inline]
pub fn scan<X: Reducible>(x: X, axis: i32, f: impl Fn(X::Elems, X::Elems) -> X::Elems) -> X {
    let _ = (x, axis, f);
    stub()
}

/// Combines each element with all after it along an axis by a function: [`scan`] from the end.
///
/// The first argument of `f` is what comes of the elements after, the second one the element. The order is that of [`scan`] with the
/// index counted from the end, as if the axis were reversed before and after.
///
/// # Compile errors
/// Those of [`scan`].
///
/// ```
/// use triton::prelude::*;
///
/// /// The sum of each element and all after it, in each of 16 rows.
/// #[triton::kernel]
/// fn left_to_come(x: Ptr<f32>, out: PtrMut<f32>) {
///     let i = arange(0, 16).expand_dims(1) * 64 + arange(0, 64).expand_dims(0); // i32[16, 64]
///     store(out + i, scan_reverse(load(x + i, true), 1, |after, x| after + x), true);
/// }
/// ```
#[inline]
pub fn scan_reverse<X: Reducible>(x: X, axis: i32, f: impl Fn(X::Elems, X::Elems) -> X::Elems) -> X {
    let _ = (x, axis, f);
    stub()
}
