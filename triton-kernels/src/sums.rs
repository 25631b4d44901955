//! Where sums over rows are stored, of columns or for parameters.

use crate::element::{FloatElement, SumOf};
use crate::operation::{Extents, Shaped};
use triton::{Tensor, View, ViewMut};

/// Where sums over rows are stored: a view or a tensor of `T`, or of `f32`.
#[derive(Debug)]
pub struct Sums<'a, T> {
    /// Of the two outputs of a kernel one is absent.
    pub(crate) out: ViewMut<'a, T, 1>,
    pub(crate) single: ViewMut<'a, f32, 1>,
    shape: Extents,
}

impl<'a, T: FloatElement> Sums<'a, T> {
    /// No output.
    pub(crate) fn none(device: &'a triton::Device) -> Sums<'a, T> {
        let shape = View::<T, 1>::none(device).extents();
        Sums { out: ViewMut::none(device), single: ViewMut::none(device), shape }
    }
}

impl<T> Shaped for Sums<'_, T> {
    fn extents(&self) -> Extents {
        self.shape
    }
}

impl<'a, T: FloatElement, U: SumOf<T>> From<ViewMut<'a, U, 1>> for Sums<'a, T> {
    fn from(view: ViewMut<'a, U, 1>) -> Sums<'a, T> {
        let shape = view.extents();
        let (out, single) = U::outputs(view);
        Sums { out, single, shape }
    }
}

impl<'a, T: FloatElement, U: SumOf<T>> From<&'a mut Tensor<U, 1>> for Sums<'a, T> {
    fn from(tensor: &'a mut Tensor<U, 1>) -> Sums<'a, T> {
        tensor.as_view_mut().into()
    }
}
