//! Tensors: buffers that know their shape.

use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, DeviceData, DeviceDataMut, sealed};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::stream::Stream;
use crate::view::{View, ViewMut};
use std::fmt;
use std::ops::RangeBounds;

/// A buffer with a shape of `R` dimensions (1 to 5), in row-major order. Made by [`Stream::tensor`], [`Stream::tensor_zeros`],
/// [`Stream::tensor_uninit`] and [`Buffer::into_tensor`].
///
/// A reference to one is an argument of kernels and operations: `&x` for a `Tensor<T, R>` of a kernel, `&mut y` for a `TensorMut<T, R>`.
/// Other axes of the same elements are views: [`reshape`](Tensor::reshape), [`permute`](Tensor::permute),
/// [`narrow`](Tensor::narrow), and [`as_view`](Tensor::as_view) with all that a [`View`] has.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!((x.shape(), x.transpose().shape()), ([2, 3], [3, 2]));
/// assert_eq!(x.reshape([3, 2, 1])?.strides(), [2, 1, 1]);
/// assert_eq!(stream.download(&x)?, [1, 2, 3, 4, 5, 6]);
///
/// let error = stream.tensor(&[1, 2, 3], [2, 2]).unwrap_err().to_string();
/// assert_eq!(error, "a tensor of shape [2, 2] has 4 elements, but there are 3");
/// # Ok(())
/// # }
/// ```
pub struct Tensor<T, const R: usize> {
    buffer: Buffer<T>,
    layout: Layout<R>,
}

/// An error of giving a shape, with what should have got it: nothing is lost. `?` turns it into an [`Error`].
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::cpu().stream()?;
/// let refused = stream.zeros::<f32>(6)?.into_tensor([4, 2]).unwrap_err();
/// assert_eq!(refused.error().to_string(), "a tensor of shape [4, 2] has 8 elements, but there are 6");
/// let x = refused.into_inner().into_tensor([3, 2])?;
/// assert_eq!(x.shape(), [3, 2]);
/// # Ok(())
/// # }
/// ```
pub struct ShapeError<X>(Box<(Error, X)>);

impl<X> ShapeError<X> {
    /// What is wrong with the shape.
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// What has no shape, or its old one.
    pub fn into_inner(self) -> X {
        self.0.1
    }
}

impl<X> From<ShapeError<X>> for Error {
    fn from(refused: ShapeError<X>) -> Error {
        refused.0.0
    }
}

impl<X> fmt::Debug for ShapeError<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.error(), f)
    }
}

impl<X> fmt::Display for ShapeError<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.error(), f)
    }
}

impl<X> std::error::Error for ShapeError<X> {}

/// Row-major axes of exactly as many elements as there are.
fn shaped<const R: usize>(shape: [usize; R], len: usize) -> Result<Layout<R>> {
    if elements(shape) != Some(len) {
        return Err(Error::Shape { shape: shape.to_vec(), len });
    }
    Layout::new(0, len, shape)
}

/// The number of elements of a shape, if it can be counted.
fn elements<const R: usize>(shape: [usize; R]) -> Option<usize> {
    shape.iter().try_fold(1usize, |elements, &extent| elements.checked_mul(extent))
}

/// Row-major axes, and how many elements they have.
fn counted<const R: usize>(shape: [usize; R]) -> Result<(Layout<R>, usize)> {
    let overflow = || Error::View { shape: shape.to_vec(), strides: vec![0; R], offset: 0, needed: u64::MAX, len: 0 };
    let len = elements(shape).ok_or_else(overflow)?;
    Ok((Layout::new(0, len, shape)?, len))
}

impl Stream {
    /// A new tensor with a copy of `values`, in row-major order. Returns when the host memory may be reused.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the shape has as many elements as there are values, [`Error::Extent`], and those of [`Stream::upload`].
    pub fn tensor<T: Element, const R: usize>(&self, values: &[T], shape: [usize; R]) -> Result<Tensor<T, R>> {
        let layout = shaped(shape, values.len())?;
        Ok(Tensor { buffer: self.upload(values)?, layout })
    }

    /// A new tensor whose elements are zero (or `false`).
    ///
    /// # Errors
    /// [`Error::Extent`], [`Error::View`] for more elements than can be counted, and those of [`Stream::zeros`].
    ///
    /// ```
    /// # use triton_runtime::{Device, Result};
    /// # fn main() -> Result<()> {
    /// let stream = Device::best().stream()?;
    /// let x = stream.tensor_zeros::<f32, _>([4, 3])?;
    /// assert_eq!(stream.download(&x)?, [0.0; 12]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tensor_zeros<T: Element, const R: usize>(&self, shape: [usize; R]) -> Result<Tensor<T, R>> {
        let (layout, len) = counted(shape)?;
        Ok(Tensor { buffer: self.zeros(len)?, layout })
    }

    /// A new tensor whose values are unspecified, for work that writes all that it reads: see [`Stream::uninit`].
    ///
    /// # Errors
    /// [`Error::Extent`], [`Error::View`] for more elements than can be counted, and those of [`Stream::uninit`].
    pub fn tensor_uninit<T: Element, const R: usize>(&self, shape: [usize; R]) -> Result<Tensor<T, R>> {
        let (layout, len) = counted(shape)?;
        Ok(Tensor { buffer: self.uninit(len)?, layout })
    }
}

impl<T: Element> Buffer<T> {
    /// The buffer with a shape, in row-major order.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the shape has as many elements as the buffer, [`Error::Extent`]; in the error is the buffer.
    pub fn into_tensor<const R: usize>(self, shape: [usize; R]) -> Result<Tensor<T, R>, ShapeError<Buffer<T>>> {
        match shaped(shape, self.len()) {
            Ok(layout) => Ok(Tensor { buffer: self, layout }),
            Err(error) => Err(ShapeError(Box::new((error, self)))),
        }
    }
}

impl<T, const R: usize> Tensor<T, R> {
    /// The extents.
    pub fn shape(&self) -> [usize; R] {
        self.layout.shape
    }

    /// The strides in elements: those of row-major order.
    pub fn strides(&self) -> [isize; R] {
        self.layout.strides
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The device whose memory it is in.
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The address of the first element on the device: see [`Buffer::address`].
    pub fn address(&self) -> u64 {
        self.buffer.address()
    }

    /// The elements without their shape.
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// The elements without their shape, to write.
    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// The buffer.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }
}

impl<T: Element, const R: usize> Tensor<T, R> {
    /// The same elements with another shape; nothing is copied.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the shape has as many elements, [`Error::Extent`]; in the error is the tensor.
    pub fn into_shape<const M: usize>(self, shape: [usize; M]) -> Result<Tensor<T, M>, ShapeError<Tensor<T, R>>> {
        match shaped(shape, self.len()) {
            Ok(layout) => Ok(Tensor { buffer: self.buffer, layout }),
            Err(error) => Err(ShapeError(Box::new((error, self)))),
        }
    }

    /// All of it as a view, which has [`select`](View::select), [`split`](View::split), [`broadcast`](View::broadcast) and more.
    #[inline]
    pub fn as_view(&self) -> View<'_, T, R> {
        View::of(self.buffer.allocation(), self.layout)
    }

    /// All of it as a mutable view.
    #[inline]
    pub fn as_view_mut(&mut self) -> ViewMut<'_, T, R> {
        ViewMut::of(self.buffer.allocation(), self.layout)
    }
}

/// Views of other axes, for reading and for writing.
macro_rules! axes {
    ($($view:ident of $self:ty, $as_view:ident: $reshape:ident $permute:ident $narrow:ident $transpose:ident;)*) => {$(
        impl<T: Element, const R: usize> Tensor<T, R> {
            #[doc = concat!("A view of another shape: see [`", stringify!($view), "::reshape`].")]
            ///
            /// # Errors
            /// [`Error::Reshape`] for another number of elements, [`Error::Extent`].
            pub fn $reshape<const M: usize>(self: $self, shape: [usize; M]) -> Result<$view<'_, T, M>> {
                self.$as_view().reshape(shape)
            }

            #[doc = concat!("A view of the axes in another order: see [`", stringify!($view), "::permute`].")]
            ///
            /// # Errors
            /// [`Error::Permutation`] unless each axis is named once.
            pub fn $permute(self: $self, order: [usize; R]) -> Result<$view<'_, T, R>> {
                self.$as_view().permute(order)
            }

            #[doc = concat!("A view of a range of an axis: see [`", stringify!($view), "::narrow`].")]
            ///
            /// # Errors
            /// [`Error::Axis`], [`Error::AxisRange`].
            pub fn $narrow(self: $self, axis: usize, range: impl RangeBounds<usize>) -> Result<$view<'_, T, R>> {
                self.$as_view().narrow(axis, range)
            }

            /// A view with the last two axes swapped.
            pub fn $transpose(self: $self) -> $view<'_, T, R> {
                self.$as_view().transpose()
            }
        }
    )*};
}

axes! {
    View of &Self, as_view: reshape permute narrow transpose;
    ViewMut of &mut Self, as_view_mut: reshape_mut permute_mut narrow_mut transpose_mut;
}

impl<'a, T: Element, const R: usize> From<&'a Tensor<T, R>> for View<'a, T, R> {
    fn from(tensor: &'a Tensor<T, R>) -> View<'a, T, R> {
        tensor.as_view()
    }
}

impl<'a, T: Element, const R: usize> From<&'a mut Tensor<T, R>> for ViewMut<'a, T, R> {
    fn from(tensor: &'a mut Tensor<T, R>) -> ViewMut<'a, T, R> {
        tensor.as_view_mut()
    }
}

impl<T, const R: usize> fmt::Debug for Tensor<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} {:?} on {})", std::any::type_name::<T>(), self.shape(), self.device())
    }
}

impl<T, const R: usize> sealed::Sealed for Tensor<T, R> {}

impl<T: Element, const R: usize> DeviceData for Tensor<T, R> {
    type Item = T;

    fn as_slice(&self) -> BufferSlice<'_, T> {
        self.buffer.as_slice()
    }
}

impl<T: Element, const R: usize> DeviceDataMut for Tensor<T, R> {
    fn as_mut_slice(&mut self) -> BufferSliceMut<'_, T> {
        self.buffer.as_mut_slice()
    }
}
