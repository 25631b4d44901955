//! Operands as batches of matrices, in the order that kernels take them.

use crate::error::Result;
use crate::select::Order;
use triton::{Element, Tensor, View, ViewMut};

mod sealed {
    pub trait Sealed {}
    impl<T, const R: usize> Sealed for triton::View<'_, T, R> {}
    impl<T, const R: usize> Sealed for triton::ViewMut<'_, T, R> {}
    impl<T, const R: usize> Sealed for &triton::Tensor<T, R> {}
    impl<T, const R: usize> Sealed for &mut triton::Tensor<T, R> {}
}

/// A matrix, or a batch of matrices: a [`View`] of two or three dimensions, or a reference to a [`Tensor`].
#[diagnostic::on_unimplemented(message = "`{Self}` is neither a matrix nor a batch of matrices")]
pub trait Matrices<'a, T>: sealed::Sealed {
    #[doc(hidden)]
    fn matrices(self) -> View<'a, T, 3>;
}

/// The same to be written: a [`ViewMut`], or a mutable reference to a [`Tensor`].
#[diagnostic::on_unimplemented(message = "`{Self}` is neither a mutable matrix nor a mutable batch of matrices")]
pub trait MatricesMut<'a, T>: sealed::Sealed {
    #[doc(hidden)]
    fn matrices(self) -> ViewMut<'a, T, 3>;
}

impl<'a, T: Element> Matrices<'a, T> for View<'a, T, 2> {
    #[inline]
    fn matrices(self) -> View<'a, T, 3> {
        self.into()
    }
}

impl<'a, T: Element> Matrices<'a, T> for View<'a, T, 3> {
    #[inline]
    fn matrices(self) -> View<'a, T, 3> {
        self
    }
}

impl<'a, T: Element> MatricesMut<'a, T> for ViewMut<'a, T, 2> {
    #[inline]
    fn matrices(self) -> ViewMut<'a, T, 3> {
        self.into()
    }
}

impl<'a, T: Element> MatricesMut<'a, T> for ViewMut<'a, T, 3> {
    #[inline]
    fn matrices(self) -> ViewMut<'a, T, 3> {
        self
    }
}

impl<'a, T: Element, const R: usize> Matrices<'a, T> for &'a Tensor<T, R>
where
    View<'a, T, R>: Matrices<'a, T>,
{
    #[inline]
    fn matrices(self) -> View<'a, T, 3> {
        self.as_view().matrices()
    }
}

impl<'a, T: Element, const R: usize> MatricesMut<'a, T> for &'a mut Tensor<T, R>
where
    ViewMut<'a, T, R>: MatricesMut<'a, T>,
{
    #[inline]
    fn matrices(self) -> ViewMut<'a, T, 3> {
        self.as_view_mut().matrices()
    }
}

/// Whether the last but one axis is contiguous, and the last one is not.
pub(super) fn is_transposed([_, rows, columns]: [usize; 3], [_, down, across]: [isize; 3]) -> bool {
    rows > 1 && columns > 1 && down == 1 && across != 1
}

/// Whether a matrix and each of its rows begin at multiples of 16 bytes, so that whole vectors are loaded. Not inlined, as `size`.
#[inline(never)]
pub(super) fn is_aligned<T>(address: u64, [_, down, across]: [isize; 3]) -> bool {
    across == 1 && address.is_multiple_of(16) && down.unsigned_abs().is_multiple_of(16 / size_of::<T>())
}

/// Gives operands whose contiguous axis is the last one, as kernels for their order take them.
pub(super) fn ordered<T: Element>(a: &mut View<'_, T, 3>, b: &mut View<'_, T, 3>) -> Order {
    let transposed = [is_transposed(a.shape(), a.strides()), is_transposed(b.shape(), b.strides())];
    if transposed[0] {
        *a = a.transpose();
    }
    if transposed[1] {
        *b = b.transpose();
    }
    Order::of(transposed)
}

/// A matrix for each product of a batch: one is used by all of them.
pub(super) fn for_each<'a, T: Element>(view: View<'a, T, 3>, batch: usize) -> Result<View<'a, T, 3>> {
    Ok(if view.shape()[0] == 1 && batch != 1 { view.broadcast(0, batch)? } else { view })
}
