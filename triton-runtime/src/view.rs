//! Views: the elements of a buffer as an array with a shape and strides. What changes their axes is in [`axes`](crate::axes).
//!
//! **Invariant:** every element that the extents and strides of a view describe lies in the buffer, slice or foreign memory that it was made
//! of, extents fit `i32`, strides are not negative, and no two elements of a mutable view alias, nor of two that were one. A kernel checks its
//! indices against the extents only; this is why launching it is safe.

use crate::allocation::Allocation;
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::foreign::Foreign;
use crate::layout::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// What the elements of a view are in.
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    Buffer(&'a Arc<Allocation>),
    /// Memory of another owner.
    Foreign(Foreign<'a>),
    /// Nothing: the view was made by `none`.
    None(&'a Device),
}

impl Memory<'_> {
    /// The address of what is this many bytes after the first one, as [`Layout::bytes`] counts them; 0 if there is no memory.
    #[inline]
    pub(crate) fn address(self, bytes: u64) -> u64 {
        match self {
            Memory::Buffer(allocation) => allocation.address() + bytes,
            Memory::Foreign(_) => bytes,
            Memory::None(_) => 0,
        }
    }
}

/// A device buffer's elements as an array of `R` dimensions (1 to 5) that kernels read: what is passed for a
/// `Tensor<T, R>`. Made of a [`Tensor`](crate::Tensor), by [`Buffer::view`](crate::Buffer::view) and
/// [`BufferSlice::view`](crate::BufferSlice::view), and of another owner's memory by [`View::from_raw_parts`] and
/// [`View::from_slice`].
///
/// Element `[i, j]` of a view of two dimensions is `i * stride(0) + j * stride(1)` elements after its first. A view for
/// reading may alias: several indices may name one element. An extent of 0 is allowed: then there is no element.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let x = Device::cpu().stream()?.zeros::<f32>(6 * 8)?;
/// let whole = x.view([6, 8])?;
/// assert_eq!((whole.shape(), whole.stride(0), whole.stride(1)), ([6, 8], Some(8), Some(1)));
/// let row = x.view([1, 8])?.with_offset(8 * 5)?;
/// let even = x.view([6, 4])?.with_strides([8, 2])?;
/// let error = even.with_offset(2).unwrap_err().to_string();
/// assert!(error.contains("from element 2 on needs 49 elements, but there are 48"), "{error}");
/// # Ok(())
/// # }
/// ```
///
/// The number of dimensions is checked by the compiler:
///
/// ```compile_fail
/// let x = triton_runtime::Device::cpu().stream()?.zeros::<f32>(64)?;
/// x.view([2, 2, 2, 2, 2, 2])?;
/// # Ok::<(), triton_runtime::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct View<'a, T, const R: usize> {
    memory: Memory<'a>,
    layout: Layout<R>,
    element: PhantomData<&'a [T]>,
}

/// A device buffer's elements as an array of `R` dimensions (1 to 5) that kernels read and write: what is passed for a
/// `TensorMut<T, R>`. Made of a [`Tensor`](crate::Tensor), by [`Buffer::view_mut`](crate::Buffer::view_mut) and
/// [`BufferSliceMut::view_mut`](crate::BufferSliceMut::view_mut), and of another owner's memory by [`ViewMut::from_raw_parts`] and
/// [`ViewMut::from_slice`].
///
/// It is a [`View`] of which no two indices alias.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let mut x = Device::cpu().stream()?.zeros::<f32>(64)?;
/// let error = x.view_mut([4, 4])?.with_strides([2, 1]).unwrap_err().to_string();
/// assert!(error.contains("its elements [0, 2] and [1, 0] alias"), "{error}");
/// # Ok(())
/// # }
/// ```
pub struct ViewMut<'a, T, const R: usize> {
    memory: Memory<'a>,
    layout: Layout<R>,
    element: PhantomData<&'a mut [T]>,
}

macro_rules! view {
    ($($name:ident)*) => {$(
        impl<'a, T: Element, const R: usize> $name<'a, T, R> {
            #[inline]
            pub(crate) fn new(allocation: &'a Arc<Allocation>, start: usize, len: usize, shape: [usize; R]) -> Result<$name<'a, T, R>> {
                Ok($name { memory: Memory::Buffer(allocation), layout: Layout::new(start, len, shape)?, element: PhantomData })
            }

            /// Elements of a buffer in which the layout lies.
            #[inline]
            pub(crate) fn of(allocation: &'a Arc<Allocation>, layout: Layout<R>) -> $name<'a, T, R> {
                $name { memory: Memory::Buffer(allocation), layout, element: PhantomData }
            }

            /// Elements in memory of another owner: the layout's slice begins at their address.
            pub(crate) fn foreign(owner: Foreign<'a>, layout: Layout<R>) -> $name<'a, T, R> {
                $name { memory: Memory::Foreign(owner), layout, element: PhantomData }
            }

            /// The same memory with other axes.
            #[inline]
            pub(crate) fn map<const M: usize>(self, change: impl FnOnce(Layout<R>) -> Result<Layout<M>>) -> Result<$name<'a, T, M>> {
                Ok($name { memory: self.memory, layout: change(self.layout)?, element: PhantomData })
            }

            /// The same where nothing can be refused.
            #[inline]
            pub(crate) fn with_layout<const M: usize>(self, change: impl FnOnce(Layout<R>) -> Layout<M>) -> $name<'a, T, M> {
                $name { memory: self.memory, layout: change(self.layout), element: PhantomData }
            }

            /// A view without elements, of no buffer: what is passed for an operand that is absent. Its extents are 0, so that a
            /// kernel that reads it reads 0, as everywhere out of bounds, and one that writes it writes nothing. It does not keep
            /// a launch from [specialized](crate::metadata::Specialization) code, and a launch on any device takes it.
            ///
            /// ```
            /// use triton_runtime::{Device, View, ViewMut};
            ///
            /// let device = Device::cpu();
            /// let bias = View::<f32, 1>::none(&device);
            /// assert_eq!((bias.shape(), bias.address()), ([0], 0));
            /// assert_eq!(ViewMut::<f32, 2>::none(&device).shape(), [0, 0]);
            /// ```
            #[inline]
            pub fn none(device: &'a Device) -> $name<'a, T, R> {
                $name { memory: Memory::None(device), layout: Layout::none(), element: PhantomData }
            }

            /// The same shape, from `elements` elements after this view's first on.
            ///
            /// # Errors
            /// [`Error::View`](crate::Error::View) if it does not lie in the buffer, [`Error::Part`](crate::Error::Part) of a part of a view.
            pub fn with_offset(self, elements: usize) -> Result<$name<'a, T, R>> {
                Ok($name { layout: self.layout.with_offset(elements)?, ..self })
            }

            /// The last two dimensions swapped, with their strides; a view of one dimension as it is.
            #[inline]
            pub fn transpose(self) -> $name<'a, T, R> {
                $name { layout: self.layout.transpose(), ..self }
            }
        }

        impl<'a, T, const R: usize> $name<'a, T, R> {
            /// The extents.
            #[inline]
            pub fn shape(&self) -> [usize; R] {
                self.layout.shape
            }

            /// The strides in elements.
            #[inline]
            pub fn strides(&self) -> [isize; R] {
                self.layout.strides
            }

            /// The stride of a dimension in elements; `None` if there is no such dimension.
            pub fn stride(&self, axis: usize) -> Option<isize> {
                self.layout.strides.get(axis).copied()
            }

            /// The device whose memory it is in.
            pub fn device(&self) -> &'a Device {
                match self.memory {
                    Memory::Buffer(allocation) => allocation.device(),
                    Memory::Foreign(owner) => owner.device(),
                    Memory::None(device) => device,
                }
            }

            /// The address of the first element on the device; 0 if there is no buffer.
            #[inline]
            pub fn address(&self) -> u64 {
                self.memory.address(self.layout.bytes::<T>())
            }
        }

        impl<T, const R: usize> fmt::Debug for $name<'_, T, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (element, Layout { shape, strides, offset, .. }) = (std::any::type_name::<T>(), self.layout);
                let (name, device) = (stringify!($name), self.device());
                write!(f, "{name}({element} {shape:?} with strides {strides:?} from element {offset} on, on {device})")
            }
        }
    )*};
}

view!(View ViewMut);

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// The same shape with other strides, in elements. 0 repeats the elements of a dimension.
    ///
    /// # Errors
    /// [`Error::Stride`](crate::Error::Stride) for a negative stride, [`Error::View`](crate::Error::View) if the elements do not lie in the buffer,
    /// [`Error::Part`](crate::Error::Part) of a part of a view.
    pub fn with_strides(self, strides: [isize; R]) -> Result<View<'a, T, R>> {
        Ok(View { layout: self.layout.with_strides(strides)?, ..self })
    }

    /// Who has the memory.
    #[inline]
    pub(crate) fn memory(&self) -> Memory<'a> {
        self.memory
    }

    /// Where its first element is in the memory.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.layout.bytes::<T>()
    }
}

impl<'a, T: Element, const R: usize> ViewMut<'a, T, R> {
    /// The same shape with other strides, in elements.
    ///
    /// # Errors
    /// [`Error::Stride`](crate::Error::Stride) for a negative stride, [`Error::View`](crate::Error::View) if the elements do not lie in the buffer,
    /// [`Error::Overlap`](crate::Error::Overlap) if two indices alias: this is exact for up to two dimensions of more than one element
    /// and for up to 2²⁰ elements; beyond, strides that do not nest (sorted, each larger than what all smaller ones reach)
    /// are rejected as well; [`Error::Part`](crate::Error::Part) of a part of a view.
    pub fn with_strides(self, strides: [isize; R]) -> Result<ViewMut<'a, T, R>> {
        Ok(ViewMut { layout: self.layout.with_strides(strides)?.disjoint()?, ..self })
    }

    /// The same elements, borrowed: the view can be changed and passed, and this one is used again afterwards.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let mut x = Device::cpu().stream()?.zeros::<f32>(4 * 6)?;
    /// let mut view = x.view_mut([4, 6])?;
    /// for row in 0..4 {
    ///     assert_eq!(view.reborrow().narrow(0, row..=row)?.shape(), [1, 6]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn reborrow(&mut self) -> ViewMut<'_, T, R> {
        ViewMut { memory: self.memory, layout: self.layout, element: PhantomData }
    }

    /// The elements before an index of an axis, and those from it on: two views, both of which a kernel may write.
    ///
    /// A part keeps to its elements: of [`with_strides`](ViewMut::with_strides), [`with_offset`](ViewMut::with_offset) and
    /// [`as_strided`](ViewMut::as_strided), which could name those of the other part, it has none.
    ///
    /// # Errors
    /// [`Error::Axis`](crate::Error::Axis), [`Error::AxisRange`](crate::Error::AxisRange).
    ///
    /// ```
    /// # use triton_runtime::{Device, Error, Result};
    /// # fn main() -> Result<()> {
    /// let mut x = Device::cpu().stream()?.zeros::<f32>(4 * 6)?;
    /// let (left, right) = x.view_mut([4, 6])?.split_at(1, 2)?;
    /// assert_eq!((left.shape(), right.shape(), right.address() - left.address()), ([4, 2], [4, 4], 8));
    /// assert_eq!(left.with_strides([6, 3]).unwrap_err(), Error::Part);
    /// # Ok(())
    /// # }
    /// ```
    pub fn split_at(self, axis: usize, index: usize) -> Result<(ViewMut<'a, T, R>, ViewMut<'a, T, R>)> {
        let [before, after] = self.layout.split_at(axis, index)?;
        Ok((ViewMut { layout: before, ..self }, ViewMut { memory: self.memory, layout: after, element: PhantomData }))
    }

    /// The same elements, for reading.
    #[inline]
    pub fn as_view(&self) -> View<'_, T, R> {
        View { memory: self.memory, layout: self.layout, element: PhantomData }
    }

    /// The same, as long as the buffer is borrowed.
    #[inline]
    pub(crate) fn into_read(self) -> View<'a, T, R> {
        View { memory: self.memory, layout: self.layout, element: PhantomData }
    }
}
