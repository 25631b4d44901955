//! Typed memory of a device.

use crate::allocation::Allocation;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::bounds;
use crate::stream::Stream;
use crate::view::{View, ViewMut};
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

/// Elements in the memory of a device. Made by [`Stream::upload`], [`Stream::zeros`] and [`Stream::uninit`].
///
/// A buffer knows its device and the streams of its last uses. A use on another stream waits, on the device, for the uses
/// that it must come after; dropping frees their memory after all of them, without waiting on the host.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::cpu().stream()?;
/// let mut x = stream.upload(&[1, 2, 3, 4])?;
/// stream.copy_from_host(&[20, 30], &mut x.slice_mut(1..3)?)?;
/// assert_eq!(stream.download(&x)?, [1, 20, 30, 4]);
/// assert_eq!(stream.download(&x.slice(2..)?)?, [30, 4]);
/// # Ok(())
/// # }
/// ```
pub struct Buffer<T> {
    allocation: Arc<Allocation>,
    len: usize,
    element: PhantomData<T>,
}

/// A range of a [`Buffer`].
#[derive(Clone, Copy)]
pub struct BufferSlice<'a, T> {
    allocation: &'a Arc<Allocation>,
    start: usize,
    len: usize,
    element: PhantomData<&'a [T]>,
}

/// A range of a [`Buffer`] that may be written.
pub struct BufferSliceMut<'a, T> {
    allocation: &'a Arc<Allocation>,
    start: usize,
    len: usize,
    element: PhantomData<&'a mut [T]>,
}

pub(crate) mod sealed {
    /// Only our buffers and slices.
    pub trait Sealed {}
}

/// A buffer or a slice of one: what a copy reads.
pub trait DeviceData: sealed::Sealed {
    /// The element type.
    type Item: Element;

    /// All of it as a slice.
    fn as_slice(&self) -> BufferSlice<'_, Self::Item>;
}

/// A buffer or a mutable slice of one: what a copy writes.
pub trait DeviceDataMut: DeviceData {
    /// All of it as a mutable slice.
    fn as_mut_slice(&mut self) -> BufferSliceMut<'_, Self::Item>;
}

impl<T: Element> Buffer<T> {
    pub(crate) fn new(stream: &Stream, len: usize, zeroed: bool) -> Result<Buffer<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| {
            Error::out_of_memory((len as u64).saturating_mul(size_of::<T>() as u64), stream.device().to_string())
        })?;
        Ok(Buffer::of(Allocation::new(stream, bytes, zeroed)?, len))
    }

    /// The first elements of an allocation, which are in it.
    pub(crate) fn of(allocation: Allocation, len: usize) -> Buffer<T> {
        Buffer { allocation: Arc::new(allocation), len, element: PhantomData }
    }

    #[inline]
    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// The same of an allocation that a stream lends.
    pub(crate) fn lent(allocation: Arc<Allocation>, len: usize) -> Buffer<T> {
        Buffer { allocation, len, element: PhantomData }
    }

    /// Whether a graph owns the memory, too.
    pub(crate) fn is_shared(&mut self) -> bool {
        Arc::get_mut(&mut self.allocation).is_none()
    }

    /// A range of elements.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it does not lie in the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// A range of elements that may be written.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it does not lie in the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferSliceMut<'_, T>> {
        self.as_mut_slice().into_slice(range)
    }

    /// The elements as an array of this shape, in row-major order; remaining elements are not part of it. Other strides
    /// and another first element are set on the view.
    ///
    /// # Errors
    /// [`Error::View`] if there are too few elements, [`Error::Extent`].
    ///
    /// ```
    /// # use triton_runtime::{Device, Result};
    /// # fn main() -> Result<()> {
    /// let x = Device::cpu().stream()?.zeros::<f32>(12)?;
    /// assert_eq!(x.view([3, 4])?.transpose().shape(), [4, 3]);
    /// let window = x.view([2, 2])?.with_strides([4, 1])?.with_offset(5)?;
    /// assert_eq!(window.address() - x.address(), 5 * 4);
    /// assert!(x.view([3, 5]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'_, T, R>> {
        self.as_slice().view(shape)
    }

    /// The elements as a mutable array of this shape, in row-major order.
    ///
    /// # Errors
    /// [`Error::View`] if there are too few elements, [`Error::Extent`].
    pub fn view_mut<const R: usize>(&mut self, shape: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        ViewMut::new(&self.allocation, 0, self.len, shape)
    }
}

impl<T> Buffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device whose memory it is in.
    pub fn device(&self) -> &Device {
        self.allocation.device()
    }

    /// The address of the first element on the device; on the CPU a host address. 0 for an empty buffer of a GPU.
    ///
    /// Work of others that uses the address is unknown to the buffer: order it by events, or use one stream.
    pub fn address(&self) -> u64 {
        self.allocation.address()
    }
}

/// Start and length of a range in `len` elements.
fn resolve(range: impl RangeBounds<usize>, len: usize) -> Result<(usize, usize)> {
    let (start, end) = bounds(range, len).map_err(|(start, end)| Error::OutOfRange { start, end, len })?;
    Ok((start, end - start))
}

impl<'a, T: Element> BufferSlice<'a, T> {
    /// A range of this range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it does not lie inside.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferSlice<'a, T>> {
        let (start, len) = resolve(range, self.len)?;
        Ok(BufferSlice { start: self.start + start, len, ..*self })
    }

    /// The elements as an array of this shape, in row-major order: see [`Buffer::view`].
    ///
    /// # Errors
    /// [`Error::View`] if there are too few elements, [`Error::Extent`].
    pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'a, T, R>> {
        View::new(self.allocation, self.start, self.len, shape)
    }
}

impl<'a, T: Element> BufferSliceMut<'a, T> {
    /// A range of this range, for reading.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it does not lie inside.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<BufferSlice<'_, T>> {
        self.as_slice().slice(range)
    }

    /// A range of this range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it does not lie inside.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferSliceMut<'_, T>> {
        self.as_mut_slice().into_slice(range)
    }

    /// The elements as an array of this shape, in row-major order, for reading: see [`Buffer::view`].
    ///
    /// # Errors
    /// [`Error::View`] if there are too few elements, [`Error::Extent`].
    pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'_, T, R>> {
        View::new(self.allocation, self.start, self.len, shape)
    }

    /// The elements as a mutable array of this shape, in row-major order: see [`Buffer::view`].
    ///
    /// # Errors
    /// [`Error::View`] if there are too few elements, [`Error::Extent`].
    pub fn view_mut<const R: usize>(&mut self, shape: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        ViewMut::new(self.allocation, self.start, self.len, shape)
    }

    fn into_slice(self, range: impl RangeBounds<usize>) -> Result<BufferSliceMut<'a, T>> {
        let (start, len) = resolve(range, self.len)?;
        Ok(BufferSliceMut { start: self.start + start, len, ..self })
    }
}

macro_rules! slice {
    ($($name:ident),*) => {$(
        impl<'a, T> $name<'a, T> {
            /// Number of elements.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether it has no element.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }

            /// The device whose memory it is in.
            pub fn device(&self) -> &'a Device {
                self.allocation.device()
            }

            /// The address of the first element on the device.
            pub fn address(&self) -> u64 {
                self.allocation.address() + self.offset() as u64
            }

            /// Bytes before the first element.
            #[inline]
            pub(crate) fn offset(&self) -> usize {
                self.start * size_of::<T>()
            }

            #[inline]
            pub(crate) fn allocation(&self) -> &'a Arc<Allocation> {
                self.allocation
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe(f, stringify!($name), self.len, std::any::type_name::<T>(), self.device())
            }
        }

        impl<T> sealed::Sealed for $name<'_, T> {}
    )*};
}

slice!(BufferSlice, BufferSliceMut);

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Buffer", self.len, std::any::type_name::<T>(), self.device())
    }
}

fn describe(f: &mut fmt::Formatter<'_>, name: &str, len: usize, element: &str, device: &Device) -> fmt::Result {
    write!(f, "{name}([{element}; {len}] on {device})")
}

impl<T> sealed::Sealed for Buffer<T> {}

impl<T: Element> DeviceData for Buffer<T> {
    type Item = T;

    fn as_slice(&self) -> BufferSlice<'_, T> {
        BufferSlice { allocation: &self.allocation, start: 0, len: self.len, element: PhantomData }
    }
}

impl<T: Element> DeviceDataMut for Buffer<T> {
    fn as_mut_slice(&mut self) -> BufferSliceMut<'_, T> {
        BufferSliceMut { allocation: &self.allocation, start: 0, len: self.len, element: PhantomData }
    }
}

impl<T: Element> DeviceData for BufferSlice<'_, T> {
    type Item = T;

    fn as_slice(&self) -> BufferSlice<'_, T> {
        *self
    }
}

impl<T: Element> DeviceData for BufferSliceMut<'_, T> {
    type Item = T;

    fn as_slice(&self) -> BufferSlice<'_, T> {
        BufferSlice { allocation: self.allocation, start: self.start, len: self.len, element: PhantomData }
    }
}

impl<T: Element> DeviceDataMut for BufferSliceMut<'_, T> {
    fn as_mut_slice(&mut self) -> BufferSliceMut<'_, T> {
        BufferSliceMut { allocation: self.allocation, start: self.start, len: self.len, element: PhantomData }
    }
}
