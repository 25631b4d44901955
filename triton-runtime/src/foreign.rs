//! Views of memory that another owner has: another library's on the GPU, a slice of the host on the CPU device.
//!
//! **Invariant:** a [`Region`] is made by an `unsafe` function, whose caller vouches for the memory, or of a borrowed slice. So the CPU
//! device may let kernels access it.

use crate::device::{Backend, Device};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::stream::Stream;
use crate::view::{View, ViewMut};
use triton_core::types::DType;

/// Bytes that are accessible as long as what they were made of is borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

/// Memory of another owner.
#[derive(Clone, Copy)]
pub(crate) struct Foreign<'a> {
    pub(crate) device: &'a Device,
    region: Region,
    /// Whether it is a borrowed slice, which a graph cannot hold.
    pub(crate) is_borrowed: bool,
}

impl<'a> Foreign<'a> {
    /// Elements from an address on.
    fn new<T: Element>(device: &'a Device, address: u64, len: usize, is_borrowed: bool) -> Result<Foreign<'a>> {
        let refused = |reason: String| Error::Foreign { address, device: device.to_string(), reason };
        let bytes =
            (len as u64).checked_mul(size_of::<T>() as u64).filter(|bytes| address.checked_add(*bytes).is_some());
        let Some(bytes) = bytes else {
            return Err(refused(format!("{len} elements of {} bytes reach past the last address", size_of::<T>())));
        };
        if bytes > 0 {
            if address == 0 {
                return Err(refused(format!("the address is null, but the view may access {len} elements")));
            }
            if !address.is_multiple_of(size_of::<T>() as u64) {
                return Err(refused(format!(
                    "the address is no multiple of the {} bytes of an element",
                    size_of::<T>()
                )));
            }
            if let Backend::Cuda(context) = device.backend() {
                context.check_address(address).map_err(refused)?;
            }
        }
        Ok(Foreign { device, region: Region { address, bytes }, is_borrowed })
    }

    /// A slice of the host.
    fn of_slice<T: Element>(device: &'a Device, address: u64, len: usize) -> Result<Foreign<'a>> {
        if !device.is_cpu() {
            let reason = "a slice of the host is memory of the CPU device alone; copy it with stream.upload(..)";
            return Err(Error::Foreign { address, device: device.to_string(), reason: reason.to_string() });
        }
        Foreign::new::<T>(device, address, len, true)
    }

    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.region.address
    }

    /// Rejects a stream of another device.
    #[inline]
    pub(crate) fn check(&self, stream: &Stream, what: impl FnOnce() -> String) -> Result<()> {
        if self.device == stream.device() {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what(), found: self.device.to_string(), expected: stream.device().to_string() })
    }

    /// The bytes that a kernel may access.
    pub(crate) fn region(&self) -> Region {
        self.region
    }

    /// Some of its bytes, which lie inside.
    pub(crate) fn part(&self, offset: u64, bytes: u64) -> Foreign<'a> {
        Foreign { region: Region { address: self.region.address + offset, bytes }, ..*self }
    }
}

/// What a caller of `from_raw_parts` promises, for the docs of both.
macro_rules! from_raw_parts {
    ($($name:ident, $reads:literal, $alias:literal, $checked:expr;)*) => {$(
        impl<'a, T: Element, const R: usize> $name<'a, T, R> {
            /// A view of memory that another library owns: `shape` and `strides`, in elements, from an address on, `len` elements of
            /// which may be accessed. What the strides reach is checked against `len`.
            ///
            /// On the CPU device the address is one of this process. On the simulator, whose memory is its own, it is one of its buffers.
            ///
            /// # Safety
            /// While `'a` lasts, and until work that was enqueued with the view is done:
            /// - the `len` elements from the address on are memory of `device` that holds values of `T`,
            #[doc = $reads]
            /// - uses by others are ordered with ours: by enqueueing on the same stream, or by events. The runtime orders the uses of its
            ///   own buffers alone.
            ///
            /// A graph that captured a launch with the view uses the memory at each replay.
            ///
            /// # Errors
            /// [`Error::Foreign`] for an address that is null, not aligned to an element, or not of the device as far as the driver knows;
            /// [`Error::Extent`], [`Error::Stride`] for a negative stride, [`Error::View`] if the elements are not among the `len`
            #[doc = $alias]
            ///
            /// ```
            /// # #![allow(unsafe_code)]
            /// use triton_runtime::{Device, Result, View, ViewMut};
            ///
            /// # fn main() -> Result<()> {
            /// let device = Device::cpu();
            /// let mut columns = vec![0.0f32; 12];
            /// let address = columns.as_mut_ptr().expose_provenance() as u64;
            /// // Three rows of four, in column-major order.
            /// // SAFETY: the 12 elements live until the end of this function, and nothing else accesses them.
            #[doc = concat!("let view = unsafe { ", stringify!($name), "::<f32, 2>::from_raw_parts(&device, address, 12, [3, 4], [1, 3])? };")]
            /// assert_eq!((view.shape(), view.address()), ([3, 4], address));
            /// # Ok(())
            /// # }
            /// ```
            #[allow(unsafe_code, reason = "the caller must vouch for the memory")]
            pub unsafe fn from_raw_parts(
                device: &'a Device,
                address: u64,
                len: usize,
                shape: [usize; R],
                strides: [isize; R],
            ) -> Result<$name<'a, T, R>> {
                let layout = Layout::strided(len, shape, strides).and_then($checked)?;
                Ok($name::foreign(Foreign::new::<T>(device, address, len, false)?, layout))
            }
        }
    )*};
}

from_raw_parts! {
    View, "/// - nothing writes them,", "/// from the address on.", Ok;
    ViewMut, "/// - nothing else accesses them,", "/// from the address on, [`Error::Overlap`] if two indices alias.", Layout::disjoint;
}

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// A view of a slice of the host, in row-major order, for kernels on the CPU device: nothing is copied. Remaining elements are not part
    /// of it.
    ///
    /// # Errors
    /// [`Error::Foreign`] on a device other than the CPU, [`Error::View`] if there are too few elements, [`Error::Extent`]. A launch
    /// that is captured is [`Error::Capture`], as a graph may outlive the slice.
    ///
    /// ```
    /// use triton_runtime::{Device, Result, View};
    ///
    /// # fn main() -> Result<()> {
    /// let (device, table) = (Device::cpu(), [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(View::from_slice(&device, &table, [2, 3])?.transpose().shape(), [3, 2]);
    /// assert!(View::from_slice(&device, &table, [3, 3]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_slice(device: &'a Device, values: &'a [T], shape: [usize; R]) -> Result<View<'a, T, R>> {
        let layout = Layout::new(0, values.len(), shape)?;
        let address = values.as_ptr().expose_provenance() as u64;
        Ok(View::foreign(Foreign::of_slice::<T>(device, address, values.len())?, layout))
    }
}

impl<'a, T: Element, const R: usize> ViewMut<'a, T, R> {
    /// A view of a slice of the host that kernels on the CPU device write: see [`View::from_slice`].
    ///
    /// # Errors
    /// Those of [`View::from_slice`], and [`Error::Foreign`] of `bool`s, which take 0 and 1 alone where a kernel may store any byte.
    ///
    /// ```
    /// use triton_runtime::{Device, Result, ViewMut};
    ///
    /// # fn main() -> Result<()> {
    /// let (device, mut out) = (Device::cpu(), vec![0.0f32; 6]);
    /// assert_eq!(ViewMut::from_slice(&device, &mut out, [2, 3])?.shape(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_slice(device: &'a Device, values: &'a mut [T], shape: [usize; R]) -> Result<ViewMut<'a, T, R>> {
        let layout = Layout::new(0, values.len(), shape)?;
        let address = values.as_mut_ptr().expose_provenance() as u64;
        if T::DTYPE == DType::Bool {
            let reason =
                "a kernel may store any byte, but a `bool` of the host is 0 or 1; use `u8`, or a buffer".to_string();
            return Err(Error::Foreign { address, device: device.to_string(), reason });
        }
        Ok(ViewMut::foreign(Foreign::of_slice::<T>(device, address, values.len())?, layout))
    }
}
