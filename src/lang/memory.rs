//! Reading and writing memory.

use super::{Join, Mask, Ptr, PtrMut, Tile, stub};
use crate::Element;

/// Reads the elements that pointers point to.
///
/// A tile of pointers gives a tile of the same shape, one pointer gives a number. Where `mask` is `false` nothing is read
/// and the element is 0. `mask` broadcasts to the shape of `p`; `true` reads everything.
///
/// # Compile errors
/// `p` is not a pointer, `mask` is not of `bool`, or its shape does not broadcast to that of `p`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn gather(x: Ptr<f32>, index: Ptr<i32>, out: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 128 + arange(0, 128);
///     let at = load(index + i, i < n);
///     store(out + i, load(x + at, i < n), i < n);
/// }
/// ```
#[inline]
pub fn load<P: Load>(p: P, mask: impl Mask) -> P::Out {
    let _ = (p, mask);
    stub()
}

/// Reads the elements that pointers point to, with a value for those that are masked off.
///
/// As [`load`], but where `mask` is `false` the element is that of `other`, which broadcasts to the shape of `p`.
///
/// # Compile errors
/// Those of [`load`]; `other` is not of the memory's element type, or has a larger shape than `p`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn floor_at_edge(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 128 + arange(0, 128);
///     store(out + i, load_or(x + i, i < n, -1.0), true);
/// }
/// ```
#[inline]
pub fn load_or<P: Load, V>(p: P, mask: impl Mask, other: V) -> P::Out
where
    P::Out: Join<V>,
{
    let _ = (p, mask, other);
    stub()
}

/// Writes elements where pointers point to.
///
/// `value` and `mask` broadcast to the shape of `p`. Where `mask` is `false` nothing is written. If two pointers are
/// equal, one of their values is written.
///
/// # Compile errors
/// `p` is not a pointer, or a [`Ptr`]; `value` is of another element type than the memory; `value` or `mask` has a
/// larger shape than `p`, or `mask` is not of `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn fill(x: PtrMut<f32>, value: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, value, i < n);
/// }
/// ```
#[inline]
pub fn store<P: Store<V>, V>(p: P, value: V, mask: impl Mask) {
    let _ = (p, value, mask);
    stub()
}

/// What can be loaded through.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "cannot load through `{Self}`", label = "not a pointer or a tile of pointers")]
pub trait Load {
    /// What comes of it.
    type Out;
}

#[diagnostic::do_not_recommend]
impl<T: Element> Load for Ptr<T> {
    type Out = T;
}
#[diagnostic::do_not_recommend]
impl<T: Element> Load for PtrMut<T> {
    type Out = T;
}
#[diagnostic::do_not_recommend]
impl<T: Element> Load for Tile<Ptr<T>> {
    type Out = Tile<T>;
}
#[diagnostic::do_not_recommend]
impl<T: Element> Load for Tile<PtrMut<T>> {
    type Out = Tile<T>;
}

/// What can be stored through.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "cannot store `{V}` through `{Self}`", label = "stored through this")]
pub trait Store<V> {}

#[diagnostic::do_not_recommend]
impl<T: Element, S: Element> Store<S> for PtrMut<T> {}
#[diagnostic::do_not_recommend]
impl<T: Element> Store<Tile<T>> for Tile<PtrMut<T>> {}
// Any scalar: a literal's type is rustc's guess, and the attribute checks the rest.
#[diagnostic::do_not_recommend]
impl<T: Element, S: Element> Store<S> for Tile<PtrMut<T>> {}
