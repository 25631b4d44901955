//! Host memory for asynchronous copies.

use crate::device::{Backend, Device};
use crate::driver::pinned::PinnedMemory;
use crate::element::Element;
use crate::error::{Error, Result};

/// Host memory that a GPU reads and writes by itself (page-locked); plain memory for the CPU device and the simulator.
///
/// Copies by [`Stream::upload_pinned`](crate::Stream::upload_pinned) and
/// [`Stream::download_pinned`](crate::Stream::download_pinned) return at once. Reading the memory waits for the copies
/// that fill it, writing to it for those that read it too, and dropping it for all.
///
/// ```
/// use triton_runtime::{Device, Pinned, Result};
///
/// # fn main() -> Result<()> {
/// let device = Device::best();
/// let stream = device.stream()?;
/// let mut host = Pinned::from_slice(&device, &[1.0f32, 2.0])?;
/// let mut x = stream.zeros::<f32>(2)?;
/// stream.upload_pinned(&host, &mut x)?;
/// stream.download_pinned(&x, &mut host)?;
/// assert_eq!(host.as_slice()?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pinned<T> {
    device: Device,
    len: usize,
    memory: PinnedStorage<T>,
}

#[derive(Debug)]
enum PinnedStorage<T> {
    Host(Vec<T>),
    Cuda(PinnedMemory),
}

impl<T: Element> Pinned<T> {
    /// `len` elements that are zero (or `false`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: there is less page-locked memory than memory.
    pub fn zeros(device: &Device, len: usize) -> Result<Pinned<T>> {
        let out_of_memory = || {
            let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
            Error::out_of_memory(bytes, "the host".to_string())
        };
        let memory = match device.backend() {
            Backend::Cpu | Backend::Sim(_) => {
                let mut values = Vec::new();
                values.try_reserve_exact(len).map_err(|_| out_of_memory())?;
                values.resize(len, T::from_bits(0));
                PinnedStorage::Host(values)
            }
            Backend::Cuda(context) => {
                let bytes = len.checked_mul(size_of::<T>()).ok_or_else(out_of_memory)?;
                PinnedStorage::Cuda(PinnedMemory::new(context, bytes)?)
            }
        };
        Ok(Pinned { device: device.clone(), len, memory })
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Pinned<T>> {
        let mut pinned = Pinned::zeros(device, values.len())?;
        pinned.as_mut_slice()?.copy_from_slice(values);
        Ok(pinned)
    }

    /// The values; waits for copies that fill them.
    ///
    /// # Errors
    /// A fault of the work before those copies.
    pub fn as_slice(&self) -> Result<&[T]> {
        match &self.memory {
            PinnedStorage::Host(values) => Ok(values),
            // The memory is page-aligned and every value in it valid, so that the cast never fails.
            PinnedStorage::Cuda(memory) => Ok(T::cast(memory.bytes(T::normalize)?).unwrap_or_default()),
        }
    }

    /// The values for writing; waits for all copies of them.
    ///
    /// # Errors
    /// A fault of the work before those copies.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        match &mut self.memory {
            PinnedStorage::Host(values) => Ok(values),
            PinnedStorage::Cuda(memory) => Ok(T::cast_mut(memory.bytes_mut(T::normalize)?).unwrap_or_default()),
        }
    }
}

impl<T> Pinned<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device it was made for. A stream of any device copies from and to it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn raw(&self) -> Option<&PinnedMemory> {
        match &self.memory {
            PinnedStorage::Host(_) => None,
            PinnedStorage::Cuda(memory) => Some(memory),
        }
    }

    pub(crate) fn raw_mut(&mut self) -> Option<&mut PinnedMemory> {
        match &mut self.memory {
            PinnedStorage::Host(_) => None,
            PinnedStorage::Cuda(memory) => Some(memory),
        }
    }
}
