//! What a user knows of integers and pointers, and the compiler cannot find: Triton's hints.
//!
//! On the CPU a promise is checked for every element, and one that does not hold is an error at its line. Generated code relies on it: there
//! a promise that does not hold makes accesses undefined.

use super::{Shape, stub};

/// Promises that numbers or addresses are divisible by powers of two, along each axis, and yields `x` as it is.
///
/// Groups of as many neighbours along an axis as are promised are divided: where the elements of an aligned group count up by one, or are
/// equal, its first element is a multiple. So of `pid * 128 + arange(0, 128)`, 16 promises that every sixteenth element is a multiple of
/// 16. Pointers count in bytes: 16 promises that eight `f16` that are neighbours begin at a multiple of 16 bytes. 1 promises nothing.
/// Of a number, or of a tile with one axis, the brackets may be left out.
///
/// Use it where a size or an address comes from memory. What a parameter is a multiple of is found at each launch, or promised by the
/// attribute `#[multiple_of(16)]`, which is checked.
///
/// # Compile errors
/// `x` is neither of integers nor of pointers; `multiples` has not an entry for each axis, or one that is not a power of two.
///
/// ```
/// use triton::prelude::*;
///
/// /// Doubles rows, each of which begins where a table says: at a multiple of 8.
/// #[triton::kernel]
/// fn double_rows(x: PtrMut<f16>, begins: Ptr<i64>) {
///     let first = multiple_of(load(begins + program_id(0), true), 8);
///     let at = x + first + arange(0, 64);
///     store(at, load(at, true) * 2.0, true);
/// }
///
/// fn main() -> triton::Result<()> {
///     let stream = Device::cpu().stream()?;
///     let mut x = stream.upload(&[f16::ONE; 72])?;
///     let [whole, odd] = [stream.upload(&[8i64])?, stream.upload(&[4i64])?];
///     // SAFETY: a row ends at 72.
///     unsafe { double_rows(&mut x, &whole).launch(&stream, 1)? };
///     // SAFETY: a row ends at 68.
///     let broken = unsafe { double_rows(&mut x, &odd).launch(&stream, 1) };
///     let message = broken.unwrap_err().to_string();
///     assert!(message.contains("`multiple_of` promises 8"), "{message}");
///     Ok(())
/// }
/// ```
#[inline]
pub fn multiple_of<X, A: Along>(x: X, multiples: A) -> X {
    let _ = (&x, multiples);
    stub()
}

/// Promises that neighbours count up by one, and yields `x` as it is.
///
/// Elements are promised to count up in aligned groups of this length along each axis; pointers count up by an element. Indices that are
/// made by [`arange`](crate::lang::arange), sums and products need no promise, nor does the remainder `i % n`; those that are loaded or
/// selected do.
///
/// # Compile errors
/// `x` is neither of integers nor of pointers; `lengths` has not an entry for each axis, or one below 1.
///
/// ```
/// use triton::prelude::*;
///
/// /// Gathers vectors of eight: the table has a line for each element, and those of a vector are neighbours.
/// #[triton::kernel]
/// fn gather(x: Ptr<f16>, out: PtrMut<f16>, table: Ptr<i32>) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let from = max_contiguous(load(table + i, true), 8);
///     store(out + i, load(x + multiple_of(from, 8), true), true);
/// }
/// ```
#[inline]
pub fn max_contiguous<X, A: Along>(x: X, lengths: A) -> X {
    let _ = (&x, lengths);
    stub()
}

/// Promises that neighbours are equal, and yields `x` as it is.
///
/// Elements are promised to be equal in aligned groups of this length along each axis.
///
/// # Compile errors
/// Those of [`max_contiguous`].
///
/// ```
/// use triton::prelude::*;
///
/// /// Sixteen neighbours have one scale: the table has a line for each.
/// #[triton::kernel]
/// fn scale(x: PtrMut<f32>, scales: Ptr<f32>, table: Ptr<i32>) {
///     let i = arange(0, 256);
///     let of = max_constancy(load(table + i, true), 16);
///     store(x + i, load(x + i, true) * load(scales + of, true), true);
/// }
/// ```
#[inline]
pub fn max_constancy<X, A: Along>(x: X, lengths: A) -> X {
    let _ = (&x, lengths);
    stub()
}

/// A number for each axis.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a promise for each axis",
    label = "neither an `i32` nor an array of them",
    note = "it is written as `16` for one axis, and as `[1, 16]` for two"
)]
pub trait Along {}

#[diagnostic::do_not_recommend]
impl Along for i32 {}
#[diagnostic::do_not_recommend]
impl<A: Shape> Along for A {}
