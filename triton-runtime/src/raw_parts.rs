//! Views of memory that another owner has.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::foreign::Foreign;
use crate::layout::Layout;
use crate::view::{View, ViewMut};
use triton_ir::types::DType;

/// The number of the element at an address, which is a multiple of its size, or has no element.
fn first<T>(address: u64) -> usize {
    // Addresses of a device fit the host's.
    address as usize / size_of::<T>()
}

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// A view of memory that another library owns: `shape` and `strides`, in elements, from an address on, `len` elements of which may be
    /// accessed. What the strides reach is checked against `len`.
    ///
    /// On the CPU device the address is one of this process. On the simulator, whose memory is its own, it is one of its buffers.
    ///
    /// # Safety
    /// While `'a` lasts, and until work that was enqueued with the view is done:
    /// - the `len` elements from the address on are memory of `device` that holds values of `T`,
    /// - nothing writes them,
    /// - uses by others are ordered with ours: by enqueueing on the same stream, or by events. The runtime orders the uses of its own
    ///   buffers alone.
    ///
    /// A graph that captured a launch with the view uses the memory at each replay.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an address that is null, not aligned to an element, or not of the device as far as the driver knows;
    /// [`Error::Extent`], [`Error::Stride`] for a negative stride, [`Error::View`] if the elements are not among the `len` from the
    /// address on.
    ///
    /// ```
    /// # #![allow(unsafe_code)]
    /// use triton_runtime::{Device, Result, View};
    ///
    /// # fn main() -> Result<()> {
    /// let device = Device::cpu();
    /// let columns = vec![0.0f32; 12];
    /// let address = columns.as_ptr().expose_provenance() as u64;
    /// // Three rows of four, in column-major order.
    /// // SAFETY: the 12 elements live until the end of this function, and nothing writes them.
    /// let view = unsafe { View::<f32, 2>::from_raw_parts(&device, address, 12, [3, 4], [1, 3])? };
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
    ) -> Result<View<'a, T, R>> {
        let layout = Layout::strided(first::<T>(address), len, shape, strides)?;
        Ok(View::foreign(Foreign::new::<T>(device, address, len)?, layout))
    }

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
        let address = values.as_ptr().expose_provenance() as u64;
        let layout = Layout::new(first::<T>(address), values.len(), shape)?;
        Ok(View::foreign(Foreign::of_slice::<T>(device, address, values.len())?, layout))
    }
}

impl<'a, T: Element, const R: usize> ViewMut<'a, T, R> {
    /// A mutable view of memory that another library owns: see [`View::from_raw_parts`].
    ///
    /// # Safety
    /// That of [`View::from_raw_parts`], and nothing else accesses the elements meanwhile.
    ///
    /// # Errors
    /// Those of [`View::from_raw_parts`], and [`Error::Overlap`] if two indices alias.
    ///
    /// ```
    /// # #![allow(unsafe_code)]
    /// use triton_runtime::{Device, Result, ViewMut};
    ///
    /// # fn main() -> Result<()> {
    /// let (device, mut values) = (Device::cpu(), vec![0.0f32; 12]);
    /// let address = values.as_mut_ptr().expose_provenance() as u64;
    /// // SAFETY: the 12 elements live until the end of this function, and nothing else accesses them.
    /// let refused = unsafe { ViewMut::<f32, 2>::from_raw_parts(&device, address, 12, [3, 4], [0, 3]) };
    /// assert!(refused.unwrap_err().to_string().contains("alias"));
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
    ) -> Result<ViewMut<'a, T, R>> {
        let layout = Layout::strided(first::<T>(address), len, shape, strides)?.disjoint()?;
        Ok(ViewMut::foreign(Foreign::new::<T>(device, address, len)?, layout))
    }

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
        let address = values.as_mut_ptr().expose_provenance() as u64;
        let layout = Layout::new(first::<T>(address), values.len(), shape)?;
        if T::DTYPE == DType::Bool {
            let reason =
                "a kernel may store any byte, but a `bool` of the host is 0 or 1; use `u8`, or a buffer".to_string();
            return Err(Error::Foreign { address, device: device.to_string(), reason });
        }
        Ok(ViewMut::foreign(Foreign::of_slice::<T>(device, address, values.len())?, layout))
    }
}
