//! Streams and memory that a program shares with [cudarc](https://docs.rs/cudarc) 0.19: the feature `cudarc`.
//!
//! cudarc does not build without a linking mode and a version of CUDA, which are features of it. A library leaves them to the program:
//!
//! ```toml
//! triton-dsl = { version = "0.1", features = ["cudarc"] }
//! cudarc = { version = "0.19.10", default-features = false, features = ["std", "driver", "dynamic-loading", "cuda-12080"] }
//! ```
//!
//! Both libraries use the primary context of a GPU, if cudarc's is made by `CudaContext::new`; any other is an error.
//!
//! | from | to | by |
//! |---|---|---|
//! | `Arc<CudaStream>` | [`Stream`] | [`Stream::from_cudarc`] |
//! | [`Stream`] | `Arc<CudaStream>` | [`Stream::to_cudarc`] |
//! | `CudaSlice`, `CudaView`, `CudaViewMut` | [`View`] | [`CudarcSlice`] |
//! | `CudaSlice`, `CudaViewMut` | [`ViewMut`] | [`CudarcSliceMut`] |
//! | [`Buffer`](crate::Buffer), [`BufferSlice`] | `CudaView` | [`lend`] |
//! | [`Buffer`](crate::Buffer), [`BufferSliceMut`](crate::BufferSliceMut) | `CudaViewMut` | [`lend_mut`] |
//!
//! A kernel over slices of cudarc, on a stream of cudarc:
//!
//! ```no_run
//! # #![allow(unsafe_code)]
//! use cudarc::driver::{CudaContext, CudaSlice};
//! use std::error::Error;
//! use triton_runtime::interop::{CudarcSlice, CudarcSliceMut};
//! use triton_runtime::{Result, Stream, View, ViewMut};
//!
//! # fn double(x: View<'_, f32, 1>, y: ViewMut<'_, f32, 1>, stream: &Stream) -> Result<()> { Ok(()) }
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let theirs = CudaContext::new(0)?.new_stream()?;
//!     let stream = Stream::from_cudarc(&theirs)?;
//!     let x: CudaSlice<f32> = theirs.clone_htod(&[1.0, 2.0, 3.0])?;
//!     let mut y: CudaSlice<f32> = theirs.alloc_zeros(3)?;
//!     {
//!         // SAFETY: the launch is on `theirs`.
//!         let (x, mut y) = unsafe { (CudarcSlice::new(&x, &theirs)?, CudarcSliceMut::new(&mut y, &theirs)?) };
//!         // `double(x, y).launch(&stream, 1)` of a kernel `double`.
//!         double(x.view([3])?, y.view_mut([3])?, &stream)?;
//!     }
//!     assert_eq!(theirs.clone_dtoh(&y)?, [2.0, 4.0, 6.0]);
//!     Ok(())
//! }
//! ```

use crate::allocation::Allocation;
use crate::buffer::{BufferSlice, DeviceData, DeviceDataMut};
use crate::device::{Backend, Device};
use crate::driver::context::Context;
use crate::driver::cudarc::{self as raw, Borrowed};
use crate::driver::stream::RawStream;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::{Stream, StreamBackend};
use crate::view::{View, ViewMut};
use cudarc::driver::{CudaContext, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

impl Stream {
    /// A stream of cudarc: the same handle, which lives as long as this stream, its clones, and every buffer or event last used on it. Work of
    /// both libraries is in one order.
    ///
    /// # Errors
    /// [`Error::Driver`] if cudarc's context is not the primary context of its device, or those of [`Device::cuda`].
    ///
    /// ```no_run
    /// use cudarc::driver::CudaContext;
    /// use triton_runtime::Stream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let theirs = CudaContext::new(0)?.new_stream()?;
    /// let stream = Stream::from_cudarc(&theirs)?;
    /// assert_eq!(stream.as_raw(), Some(theirs.cu_stream().cast()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_cudarc(stream: &Arc<CudaStream>) -> Result<Stream> {
        let context = Context::get(stream.context().ordinal())?;
        let backend = StreamBackend::Cuda(RawStream::of_cudarc(context, stream)?);
        Ok(Stream::with(Device::at(Backend::Cuda(context)), backend))
    }

    /// This stream for cudarc. `context` is cudarc's of the same GPU. cudarc does not destroy the stream.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] on the CPU, the simulator or another GPU; [`Error::Driver`] if cudarc's context is not the primary context.
    ///
    /// # Safety
    /// A clone of this stream lives as long as what is returned, its clones, and everything that cudarc makes with it: each `CudaSlice`, too, is
    /// freed on the stream that it was made with.
    ///
    /// ```no_run
    /// # #![allow(unsafe_code)]
    /// use cudarc::driver::CudaContext;
    /// use triton_runtime::Device;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stream = Device::cuda(0)?.stream()?;
    /// // SAFETY: `stream` is dropped after `theirs`, and nothing else is made with it.
    /// let theirs = unsafe { stream.to_cudarc(&CudaContext::new(0)?)? };
    /// theirs.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    #[allow(unsafe_code, unsafe_op_in_unsafe_fn, reason = "the caller vouches for how long the stream lives")]
    pub unsafe fn to_cudarc(&self, context: &Arc<CudaContext>) -> Result<Arc<CudaStream>> {
        let raw = self.raw().filter(|raw| raw.context.ordinal == context.ordinal());
        let raw = raw.ok_or_else(|| Error::WrongDevice {
            what: "the stream".to_string(),
            found: self.device().to_string(),
            expected: format!("CUDA device {}", context.ordinal()),
        })?;
        raw.to_cudarc(context)
    }
}

/// The device of memory and of a stream of cudarc.
fn device_of<T>(memory: &impl DeviceSlice<T>, stream: &CudaStream) -> Result<Device> {
    let context = Context::get(stream.context().ordinal())?;
    for theirs in [memory.stream().context(), stream.context()] {
        raw::check("CudarcSlice::new", context, theirs)?;
    }
    Ok(Device::at(Backend::Cuda(context)))
}

/// The strides of elements in row-major order.
fn row_major<const R: usize>(shape: [usize; R]) -> [isize; R] {
    let mut strides = [1; R];
    for axis in (1..R).rev() {
        let extent = isize::try_from(shape[axis]).unwrap_or(isize::MAX);
        strides[axis - 1] = extent.saturating_mul(strides[axis]);
    }
    strides
}

/// Elements of cudarc that kernels read: of a `CudaSlice`, a `CudaView` or a `CudaViewMut`.
///
/// cudarc tracks uses of its memory by events where it uses several streams. Making this waits for the last write, on the device; dropping it tells cudarc
/// that the reads are enqueued. So the launches with its views come between the two.
pub struct CudarcSlice<'a, T> {
    device: Device,
    memory: Borrowed<'a>,
    element: PhantomData<&'a [T]>,
}

impl<'a, T: Element> CudarcSlice<'a, T> {
    /// Memory of cudarc, for kernels on a stream of it.
    ///
    /// # Errors
    /// [`Error::Driver`] if cudarc's context is not the primary context of its device, or those of [`Device::cuda`].
    ///
    /// # Safety
    /// - Kernels that take its views are launched on `stream`, by [`Stream::from_cudarc`], or on streams that are ordered with it by the caller.
    /// - If such a launch [is captured](Stream::is_captured), the memory lives, and its uses are ordered, at every replay of the graph.
    /// - The value is dropped, not forgotten, before the memory is used on another stream.
    ///
    /// See the [module](self) for an example.
    #[allow(unsafe_code, reason = "the caller must vouch for the order of the work")]
    pub unsafe fn new(memory: &'a impl DevicePtr<T>, stream: &'a CudaStream) -> Result<CudarcSlice<'a, T>> {
        let (device, len) = (device_of(memory, stream)?, memory.len());
        Ok(CudarcSlice { device, memory: Borrowed::new(len, memory.device_ptr(stream)), element: PhantomData })
    }

    /// The elements as an array of this shape, in row-major order. Remaining elements are not part of it, but
    /// [`with_offset`](View::with_offset) and [`with_strides`](View::with_strides) reach them.
    ///
    /// # Errors
    /// Those of [`View::from_raw_parts`].
    pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'_, T, R>> {
        self.memory.view(&self.device, (shape, row_major(shape)), View::from_raw_parts)
    }
}

/// Elements of cudarc that kernels read and write: of a `CudaSlice` or a `CudaViewMut`.
///
/// It is a [`CudarcSlice`] that is borrowed exclusively. Making it waits for all uses so far, on the device.
pub struct CudarcSliceMut<'a, T> {
    device: Device,
    memory: Borrowed<'a>,
    element: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element> CudarcSliceMut<'a, T> {
    /// Memory of cudarc, for kernels on a stream of it.
    ///
    /// # Errors
    /// Those of [`CudarcSlice::new`].
    ///
    /// # Safety
    /// As of [`CudarcSlice::new`].
    #[allow(unsafe_code, reason = "the caller must vouch for the order of the work")]
    pub unsafe fn new(memory: &'a mut impl DevicePtrMut<T>, stream: &'a CudaStream) -> Result<CudarcSliceMut<'a, T>> {
        let (device, len) = (device_of(memory, stream)?, memory.len());
        Ok(CudarcSliceMut { device, memory: Borrowed::new(len, memory.device_ptr_mut(stream)), element: PhantomData })
    }

    /// The elements as an array of this shape, in row-major order: see [`CudarcSlice::view`].
    ///
    /// # Errors
    /// Those of [`View::from_raw_parts`].
    pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'_, T, R>> {
        self.memory.view(&self.device, (shape, row_major(shape)), View::from_raw_parts)
    }

    /// The elements as a mutable array of this shape, in row-major order: see [`CudarcSlice::view`].
    ///
    /// # Errors
    /// Those of [`ViewMut::from_raw_parts`].
    pub fn view_mut<const R: usize>(&mut self, shape: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        self.memory.view(&self.device, (shape, row_major(shape)), ViewMut::from_raw_parts)
    }
}

macro_rules! slice {
    ($($name:ident)*) => {$(
        impl<T> $name<'_, T> {
            /// Number of elements.
            pub fn len(&self) -> usize {
                self.memory.len()
            }

            /// Whether it has no element.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The address of the first element on the device.
            pub fn address(&self) -> u64 {
                self.memory.address()
            }

            /// The device whose memory it is in.
            pub fn device(&self) -> &Device {
                &self.device
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (element, memory) = (std::any::type_name::<T>(), &self.memory);
                write!(f, "{}({element}, {memory:?}, on {})", stringify!($name), self.device)
            }
        }
    )*};
}

slice!(CudarcSlice CudarcSliceMut);

/// Orders a use of ours before work of cudarc, and runs that.
fn order<T: Element, R>(
    memory: BufferSlice<'_, T>,
    stream: &Arc<CudaStream>,
    writes: bool,
    work: impl FnOnce(u64, usize) -> R,
) -> Result<R> {
    let ours = Stream::from_cudarc(stream)?;
    memory.allocation().check(&ours, || "the buffer".to_string())?;
    // Held until cudarc has enqueued its work. Uses that follow are ordered after the whole stream.
    let _ordered = Allocation::order(&ours, [(memory.allocation(), writes)].into_iter())?;
    Ok(work(memory.address(), memory.len()))
}

/// Lends elements of a buffer to cudarc, which reads them in `work`: as a `CudaView` that cannot outlive it.
///
/// The use is in the order of the buffer's other uses: what cudarc enqueues on `stream` comes after earlier writes, and later writes come after
/// it, whichever streams these are on. What cudarc enqueues on its other streams is ordered by its events.
///
/// A `CudaSlice` would own the memory and free it. This makes one for the time of `work`, gives a view of it, and leaks it, also if `work`
/// panics. If a graph uses the buffer, `work` must not launch one of this device: it would wait for itself.
///
/// # Errors
/// [`Error::WrongDevice`], those of [`Stream::from_cudarc`], or what the driver says.
///
/// # Safety
/// What `work` enqueues on the elements is on `stream`, or on another stream while cudarc
/// [manages their order](cudarc::driver::CudaContext::is_managing_stream_synchronization), or ordered before later work on `stream` by the caller.
///
/// # Panics
/// As cudarc does, if it cannot make an event.
///
/// ```no_run
/// # #![allow(unsafe_code)]
/// use cudarc::driver::CudaContext;
/// use triton_runtime::{Device, interop};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let theirs = CudaContext::new(0)?.new_stream()?;
/// let x = Device::cuda(0)?.stream()?.upload(&[1.0f32, 2.0, 3.0])?;
/// // SAFETY: the copy is on `theirs`.
/// let copy = unsafe { interop::lend(&x, &theirs, |x| theirs.clone_dtod(&x))?? };
/// assert_eq!(theirs.clone_dtoh(&copy)?, [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[allow(unsafe_code, unsafe_op_in_unsafe_fn, reason = "the caller vouches for the order of the work")]
pub unsafe fn lend<D: DeviceData, R>(
    memory: &D,
    stream: &Arc<CudaStream>,
    work: impl FnOnce(CudaView<'_, D::Item>) -> R,
) -> Result<R> {
    order(memory.as_slice(), stream, false, |address, len| raw::lend(stream, address, len, work))
}

/// Lends elements of a buffer to cudarc, which writes them in `work`: see [`lend`].
///
/// # Errors
/// Those of [`lend`].
///
/// # Safety
/// As of [`lend`].
///
/// # Panics
/// As [`lend`].
#[allow(unsafe_code, unsafe_op_in_unsafe_fn, reason = "the caller vouches for the order of the work")]
pub unsafe fn lend_mut<D: DeviceDataMut, R>(
    memory: &mut D,
    stream: &Arc<CudaStream>,
    work: impl FnOnce(CudaViewMut<'_, D::Item>) -> R,
) -> Result<R> {
    let elements = memory.as_mut_slice();
    order(elements.as_slice(), stream, true, |address, len| raw::lend_mut(stream, address, len, work))
}
