//! Where the gradient of a parameter is stored.

use crate::element::{FloatElement, SumOf};
use triton::prelude::*;

/// The outputs for the gradient of a parameter: of `T` and of `f32`, of which one is absent at least.
#[derive(Debug)]
pub(crate) struct Parameter<'a, T> {
    pub(crate) out: ViewMut<'a, T, 1>,
    pub(crate) single: ViewMut<'a, f32, 1>,
    /// Its extent.
    pub(crate) found: usize,
}

impl<'a, T: FloatElement> Parameter<'a, T> {
    /// Where one is stored.
    pub(crate) fn new<U: SumOf<T>>(out: ViewMut<'a, U, 1>) -> Parameter<'a, T> {
        let [found] = out.shape();
        let (out, single) = U::outputs(out);
        Parameter { out, single, found }
    }

    /// No gradient.
    pub(crate) fn none(device: &'a Device) -> Parameter<'a, T> {
        Parameter { out: ViewMut::none(device), single: ViewMut::none(device), found: 0 }
    }
}
