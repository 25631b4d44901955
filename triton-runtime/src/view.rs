//! Views: the elements of a buffer as an array with a shape and strides.
//!
//! **Invariant:** every element that the extents and strides of a view describe lies in the buffer or slice that it was made
//! of, extents fit `i32`, strides are not negative, and no two elements of a mutable view alias. A kernel checks its
//! indices against the extents only; this is why launching it is safe.

use crate::allocation::Allocation;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::overlap;
use std::fmt;
use std::marker::PhantomData;
use triton_core::metadata::MAX_RANK;

/// Where the elements of a view are.
#[derive(Clone, Copy)]
struct Layout<const R: usize> {
    shape: [usize; R],
    strides: [isize; R],
    /// Elements of the slice before the first of the view.
    offset: usize,
    /// First element of the slice in its buffer.
    start: usize,
    /// Elements of the slice.
    len: usize,
}

impl<const R: usize> Layout<R> {
    /// Row-major from the start of the slice.
    #[inline]
    fn new(start: usize, len: usize, shape: [usize; R]) -> Result<Layout<R>> {
        const { assert!(R >= 1 && R <= MAX_RANK, "a view has 1 to 5 dimensions") };
        if let Some(axis) = shape.iter().position(|&extent| i32::try_from(extent).is_err()) {
            return Err(Error::Extent { axis, found: shape[axis] });
        }
        let mut strides = [1isize; R];
        for axis in (1..R).rev() {
            // A stride that does not fit is never reached, or reaches past every buffer.
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
        }
        Layout { shape, strides, offset: 0, start, len }.inside()
    }

    fn with_strides(self, strides: [isize; R]) -> Result<Layout<R>> {
        if let Some(axis) = strides.iter().position(|&stride| stride < 0) {
            return Err(Error::Stride { axis, found: strides[axis] });
        }
        Layout { strides, ..self }.inside()
    }

    fn with_offset(self, elements: usize) -> Result<Layout<R>> {
        Layout { offset: self.offset.saturating_add(elements), ..self }.inside()
    }

    fn transpose(mut self) -> Layout<R> {
        if R >= 2 {
            self.shape.swap(R - 2, R - 1);
            self.strides.swap(R - 2, R - 1);
        }
        self
    }

    /// Rejects a view that is out of bounds of the slice.
    #[inline]
    fn inside(self) -> Result<Layout<R>> {
        match self.needed() {
            Some(needed) if needed <= self.len as u64 => Ok(self),
            needed => Err(Error::View {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                offset: self.offset,
                needed: needed.unwrap_or(u64::MAX),
                len: self.len,
            }),
        }
    }

    /// How many elements the slice must have; `None` if that does not fit.
    fn needed(&self) -> Option<u64> {
        let offset = self.offset as u64;
        if self.shape.contains(&0) {
            return Some(offset);
        }
        self.shape.iter().zip(self.strides).try_fold(offset.checked_add(1)?, |needed, (extent, stride)| {
            needed.checked_add((*extent as u64 - 1).checked_mul(stride.unsigned_abs() as u64)?)
        })
    }

    /// Rejects two indices that alias.
    fn disjoint(self) -> Result<Layout<R>> {
        match overlap::find(self.shape, self.strides) {
            None => Ok(self),
            Some(overlap) => Err(Error::Overlap {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                reason: overlap.to_string(),
            }),
        }
    }

    /// Bytes of the buffer before the first element of the view.
    fn bytes<T>(&self) -> u64 {
        (self.start + self.offset) as u64 * size_of::<T>() as u64
    }
}

/// A device buffer's elements as an array of `R` dimensions (1 to 5) that kernels read: what is passed for a
/// `Tensor<T, R>`. Made by [`Buffer::view`](crate::Buffer::view) and
/// [`BufferSlice::view`](crate::BufferSlice::view).
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
    allocation: &'a Allocation,
    layout: Layout<R>,
    element: PhantomData<&'a [T]>,
}

/// A device buffer's elements as an array of `R` dimensions (1 to 5) that kernels read and write: what is passed for a
/// `TensorMut<T, R>`. Made by [`Buffer::view_mut`](crate::Buffer::view_mut) and
/// [`BufferSliceMut::view_mut`](crate::BufferSliceMut::view_mut).
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
    allocation: &'a Allocation,
    layout: Layout<R>,
    element: PhantomData<&'a mut [T]>,
}

macro_rules! view {
    ($($name:ident)*) => {$(
        impl<'a, T: Element, const R: usize> $name<'a, T, R> {
            #[inline]
            pub(crate) fn new(allocation: &'a Allocation, start: usize, len: usize, shape: [usize; R]) -> Result<$name<'a, T, R>> {
                Ok($name { allocation, layout: Layout::new(start, len, shape)?, element: PhantomData })
            }

            /// The same shape, from `elements` elements after this view's first on.
            ///
            /// # Errors
            /// [`Error::View`] if it does not lie in the buffer.
            pub fn with_offset(self, elements: usize) -> Result<$name<'a, T, R>> {
                Ok($name { layout: self.layout.with_offset(elements)?, ..self })
            }

            /// The last two dimensions swapped, with their strides; a view of one dimension as it is.
            pub fn transpose(self) -> $name<'a, T, R> {
                $name { layout: self.layout.transpose(), ..self }
            }
        }

        impl<'a, T, const R: usize> $name<'a, T, R> {
            /// The extents.
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
                self.allocation.device()
            }

            /// The address of the first element on the device.
            #[inline]
            pub fn address(&self) -> u64 {
                self.allocation.address() + self.layout.bytes::<T>()
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
    /// [`Error::Stride`] for a negative stride, [`Error::View`] if the elements do not lie in the buffer.
    pub fn with_strides(self, strides: [isize; R]) -> Result<View<'a, T, R>> {
        Ok(View { layout: self.layout.with_strides(strides)?, ..self })
    }

    #[inline]
    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }
}

impl<'a, T: Element, const R: usize> ViewMut<'a, T, R> {
    /// The same shape with other strides, in elements.
    ///
    /// # Errors
    /// [`Error::Stride`] for a negative stride, [`Error::View`] if the elements do not lie in the buffer,
    /// [`Error::Overlap`] if two indices alias: this is exact for up to two dimensions of more than one element
    /// and for up to 2²⁰ elements; beyond, strides that do not nest (sorted, each larger than what all smaller ones reach)
    /// are rejected as well.
    pub fn with_strides(self, strides: [isize; R]) -> Result<ViewMut<'a, T, R>> {
        Ok(ViewMut { layout: self.layout.with_strides(strides)?.disjoint()?, ..self })
    }

    /// The same elements, for reading.
    #[inline]
    pub fn as_view(&self) -> View<'_, T, R> {
        View { allocation: self.allocation, layout: self.layout, element: PhantomData }
    }

    /// The same, as long as the buffer is borrowed.
    #[inline]
    pub(crate) fn into_view(self) -> View<'a, T, R> {
        View { allocation: self.allocation, layout: self.layout, element: PhantomData }
    }
}
