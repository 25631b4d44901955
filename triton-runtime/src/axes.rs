//! Changes of a view's axes, which move no memory: another order, a part, one more axis or one fewer.
//!
//! Of a [`ViewMut`] they keep that no two indices alias: each index of the result is one of the view before.

use crate::element::Element;
use crate::error::Result;
use crate::view::{View, ViewMut};
use std::ops::RangeBounds;

macro_rules! any_rank {
    ($($name:ident $view:literal)*) => {$(
        impl<'a, T: Element, const R: usize> $name<'a, T, R> {
            /// The axes in another order, with their strides: axis `i` of the result is axis `order[i]` of this view.
            ///
            /// # Errors
            /// [`Error::Permutation`](crate::Error::Permutation) unless each axis is named once.
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(2 * 3 * 4)?;
            #[doc = concat!("let view = x.", $view, "([2, 3, 4])?.permute([2, 0, 1])?;")]
            /// assert_eq!((view.shape(), view.strides()), ([4, 2, 3], [1, 12, 4]));
            /// # Ok(())
            /// # }
            /// ```
            pub fn permute(self, order: [usize; R]) -> Result<$name<'a, T, R>> {
                self.map(|layout| layout.permute(order))
            }

            /// The same elements in the same order, with another shape. Nothing is copied, so that strides must be found that give them.
            ///
            /// # Errors
            /// [`Error::Reshape`](crate::Error::Reshape) for another number of elements, or elements that no strides give in this order;
            /// [`Error::Extent`](crate::Error::Extent).
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(4 * 6)?;
            #[doc = concat!("let view = x.", $view, "([4, 6])?.narrow(1, ..3)?.reshape([2, 2, 3])?;")]
            /// assert_eq!(view.strides(), [12, 6, 1]);
            /// assert!(view.reshape([12]).is_err());
            /// # Ok(())
            /// # }
            /// ```
            pub fn reshape<const M: usize>(self, shape: [usize; M]) -> Result<$name<'a, T, M>> {
                self.map(|layout| layout.reshape(shape))
            }

            /// The elements in a range of an axis; the other axes are whole. An empty range is allowed.
            ///
            /// # Errors
            /// [`Error::Axis`](crate::Error::Axis), [`Error::AxisRange`](crate::Error::AxisRange).
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(6 * 8)?;
            /// let first = x.address();
            #[doc = concat!("let view = x.", $view, "([6, 8])?.narrow(0, 2..5)?.narrow(1, 4..)?;")]
            /// assert_eq!((view.shape(), view.strides(), view.address() - first), ([3, 4], [8, 1], 20 * 4));
            /// # Ok(())
            /// # }
            /// ```
            pub fn narrow(self, axis: usize, range: impl RangeBounds<usize>) -> Result<$name<'a, T, R>> {
                self.map(|layout| layout.narrow(axis, range))
            }
        }
    )*};
}

any_rank!(View "view" ViewMut "view_mut");

macro_rules! as_strided {
    ($($name:ident $view:literal, $checked:ident, $errors:literal;)*) => {$(
        impl<'a, T: Element, const R: usize> $name<'a, T, R> {
            /// Other extents and strides, from this view's first element on, of the whole buffer or slice that the view was made
            /// of: the result may have elements that this view leaves out. It is what host code takes that is written for any
            /// number of axes.
            ///
            /// # Errors
            /// [`Error::Extent`](crate::Error::Extent), [`Error::Stride`](crate::Error::Stride) for a negative stride,
            /// [`Error::Part`](crate::Error::Part) of a part of a view, [`Error::View`](crate::Error::View) if the elements do not lie in the buffer
            #[doc = $errors]
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(4 * 6)?;
            #[doc = concat!("let columns = x.", $view, "([4, 6])?.transpose();")]
            /// // The memory of the same elements, in its own order.
            /// let all = columns.as_strided([24], [1])?;
            /// assert_eq!((all.shape(), all.strides()), ([24], [1]));
            /// assert!(all.as_strided([5, 5], [5, 1]).is_err());
            /// # Ok(())
            /// # }
            /// ```
            pub fn as_strided<const M: usize>(self, shape: [usize; M], strides: [isize; M]) -> Result<$name<'a, T, M>> {
                self.map(|layout| layout.$checked(shape, strides))
            }
        }
    )*};
}

as_strided! {
    View "view", as_strided, ".";
    ViewMut "view_mut", as_strided_disjoint, ", [`Error::Overlap`](crate::Error::Overlap) if two indices alias.";
}

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// An axis of one element, repeated `extent` times: its stride becomes 0. A mutable view has no such axis, since its elements
    /// would alias.
    ///
    /// # Errors
    /// [`Error::Axis`](crate::Error::Axis), [`Error::Broadcast`](crate::Error::Broadcast) if the axis has another extent than 1,
    /// [`Error::Extent`](crate::Error::Extent).
    ///
    /// ```
    /// # use triton_runtime::{Device, Result};
    /// # fn main() -> Result<()> {
    /// let bias = Device::cpu().stream()?.zeros::<f32>(64)?;
    /// let rows = bias.view([1, 64])?.broadcast(0, 1000)?;
    /// assert_eq!((rows.shape(), rows.strides()), ([1000, 64], [0, 1]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast(self, axis: usize, extent: usize) -> Result<View<'a, T, R>> {
        self.map(|layout| layout.broadcast(axis, extent))
    }
}

/// Changes of the rank. They are written for each rank, since the type of a result cannot be computed from a constant parameter, and an
/// inferred one would have to be named where the result is not passed to a kernel.
macro_rules! ranks {
    ($($name:ident $view:literal: $($outer:literal = $inner:literal + 1, $extents:literal, $fewer:literal;)*)*) => {$($(
        impl<'a, T: Element> $name<'a, T, $outer> {
            /// The elements at one index of an axis, without that axis.
            ///
            /// # Errors
            /// [`Error::Axis`](crate::Error::Axis), [`Error::AxisRange`](crate::Error::AxisRange).
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(32)?;
            /// let first = x.address();
            #[doc = concat!("let view = x.", $view, "([", $extents, "])?.select(1, 1)?;")]
            #[doc = concat!("assert_eq!(view.shape(), [", $fewer, "]);")]
            /// assert!(view.address() > first);
            /// # Ok(())
            /// # }
            /// ```
            #[inline]
            pub fn select(self, axis: usize, index: usize) -> Result<$name<'a, T, $inner>> {
                self.map(|layout| layout.select(axis, index))
            }

            /// An axis and the next one as one, of as many elements as both.
            ///
            /// # Errors
            /// [`Error::Axis`](crate::Error::Axis) unless there are both, [`Error::Merge`](crate::Error::Merge) if no single stride
            /// leads through them, [`Error::Extent`](crate::Error::Extent).
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(32)?;
            #[doc = concat!("let view = x.", $view, "([", $extents, "])?.merge(0)?;")]
            /// assert_eq!(view.shape()[0], 4);
            /// # Ok(())
            /// # }
            /// ```
            pub fn merge(self, axis: usize) -> Result<$name<'a, T, $inner>> {
                self.map(|layout| layout.merge(axis))
            }
        }

        /// With an axis of one element in front.
        ///
        /// ```
        #[doc = concat!("# use triton_runtime::{Device, Result, ", stringify!($name), "};")]
        /// # fn main() -> Result<()> {
        /// let mut x = Device::cpu().stream()?.zeros::<f32>(32)?;
        #[doc = concat!("let view = ", stringify!($name), "::<f32, ", $outer, ">::from(x.", $view, "([", $fewer, "])?);")]
        #[doc = concat!("assert_eq!(view.shape(), [1, ", $fewer, "]);")]
        /// # Ok(())
        /// # }
        /// ```
        impl<'a, T: Element> From<$name<'a, T, $inner>> for $name<'a, T, $outer> {
            #[inline]
            fn from(view: $name<'a, T, $inner>) -> $name<'a, T, $outer> {
                view.with_layout(|layout| layout.expand())
            }
        }

        impl<'a, T: Element> $name<'a, T, $inner> {
            /// An axis as two, of which the second is the inner one: index `i` becomes `i / inner` and `i % inner`.
            ///
            /// # Errors
            /// [`Error::Axis`](crate::Error::Axis), [`Error::Split`](crate::Error::Split) unless `outer` times `inner` is the
            /// extent, [`Error::Extent`](crate::Error::Extent).
            ///
            /// ```
            /// # use triton_runtime::{Device, Result};
            /// # fn main() -> Result<()> {
            /// let mut x = Device::cpu().stream()?.zeros::<f32>(32)?;
            #[doc = concat!("let view = x.", $view, "([", $fewer, "])?.split(0, [1, 2])?;")]
            #[doc = concat!("assert_eq!(view.shape(), [1, ", $fewer, "]);")]
            /// # Ok(())
            /// # }
            /// ```
            #[inline]
            pub fn split(self, axis: usize, [outer, inner]: [usize; 2]) -> Result<$name<'a, T, $outer>> {
                self.map(|layout| layout.split(axis, [outer, inner]))
            }
        }
    )*)*};
}

ranks! {
    View "view":
    2 = 1 + 1, "2, 2", "2";
    3 = 2 + 1, "2, 2, 2", "2, 2";
    4 = 3 + 1, "2, 2, 2, 2", "2, 2, 2";
    5 = 4 + 1, "2, 2, 2, 2, 2", "2, 2, 2, 2";
    ViewMut "view_mut":
    2 = 1 + 1, "2, 2", "2";
    3 = 2 + 1, "2, 2, 2", "2, 2";
    4 = 3 + 1, "2, 2, 2, 2", "2, 2, 2";
    5 = 4 + 1, "2, 2, 2, 2, 2", "2, 2, 2, 2";
}
