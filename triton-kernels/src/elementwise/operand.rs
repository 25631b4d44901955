//! Operands of any number of axes, which are broadcast.

use crate::operation::{Extents, Shaped};
use triton::{Device, Element, Tensor, View, ViewMut};

/// The most axes of a view.
pub(super) const AXES: usize = 5;

/// An operand that is read: a [`View`] or a [`Tensor`] of up to five axes. Along an axis of extent 1, and along axes in front that it does not have, it is
/// repeated, as NumPy broadcasts.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a, T> {
    /// With axes of extent 1 in front.
    pub(super) view: View<'a, T, AXES>,
    extents: Extents,
}

/// The same of an operand that is written: its extents are those of the result.
#[derive(Debug)]
pub struct ElementsMut<'a, T> {
    pub(super) view: ViewMut<'a, T, AXES>,
    extents: Extents,
}

impl<'a, T: Element> Elements<'a, T> {
    /// One that reads 0: in the place of a number of the host.
    pub(super) fn absent(device: &'a Device) -> Elements<'a, T> {
        Elements { view: View::none(device), extents: Extents::new(&[]) }
    }
}

impl<T> Shaped for Elements<'_, T> {
    fn extents(&self) -> Extents {
        self.extents
    }
}

impl<T> Shaped for ElementsMut<'_, T> {
    fn extents(&self) -> Extents {
        self.extents
    }
}

/// Numbers of axes that stand last of five.
fn last<N: Copy, const R: usize>(of: [N; R], front: N) -> [N; AXES] {
    const { assert!(R <= AXES, "a view has at most five axes") };
    std::array::from_fn(|i| (i + R).checked_sub(AXES).map_or(front, |i| of[i]))
}

macro_rules! of_view {
    ($($operand:ident $view:ident $as_view:ident $tensor:ty;)*) => {$(
        impl<'a, T: Element, const R: usize> From<$view<'a, T, R>> for $operand<'a, T> {
            fn from(view: $view<'a, T, R>) -> $operand<'a, T> {
                let (extents, device) = (view.extents(), view.device());
                let (shape, strides) = (last(view.shape(), 1), last(view.strides(), 0));
                // Axes of extent 1 in front need no element that the view does not have.
                let view = view.as_strided(shape, strides).unwrap_or_else(|_| $view::none(device));
                $operand { view, extents }
            }
        }

        impl<'a, T: Element, const R: usize> From<$tensor> for $operand<'a, T> {
            fn from(tensor: $tensor) -> $operand<'a, T> {
                tensor.$as_view().into()
            }
        }
    )*};
}

of_view! {
    Elements View as_view &'a Tensor<T, R>;
    ElementsMut ViewMut as_view_mut &'a mut Tensor<T, R>;
}
