//! New buffers, and copies between buffers and the host, on a stream.

use crate::allocation::Allocation;
use crate::buffer::{Buffer, DeviceData, DeviceDataMut};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::pinned::Pinned;
use crate::stream::Stream;

impl Stream {
    /// A new buffer with a copy of `values`. Returns when the host memory may be reused.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or a fault of earlier work.
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::new(self, values.len(), false)?;
        self.copy_from_host(values, &mut buffer)?;
        Ok(buffer)
    }

    /// A new buffer with the elements that these bytes are: little-endian, as devices have them, one after the other. They may lie anywhere,
    /// and are not copied on the way. Returns when the host memory may be reused.
    ///
    /// # Errors
    /// [`Error::Bytes`] unless they are whole elements, and those of [`Stream::upload`].
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.upload_bytes::<u16>(&[1, 0, 0, 1])?;
    /// assert_eq!(stream.download(&x)?, [1, 256]);
    /// let error = stream.upload_bytes::<u16>(&[1, 0, 0]).unwrap_err().to_string();
    /// assert_eq!(error, "3 bytes are not a whole number of elements of u16, of 2 bytes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload_bytes<T: Element>(&self, bytes: &[u8]) -> Result<Buffer<T>> {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return Err(Error::Bytes { found: bytes.len(), element: T::DTYPE });
        }
        let mut buffer = Buffer::new(self, bytes.len() / size_of::<T>(), false)?;
        buffer.as_mut_slice().allocation().upload(0, bytes, self)?;
        Ok(buffer)
    }

    /// A new buffer of `len` elements that are zero (or `false`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or a fault of earlier work.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::new(self, len, true)
    }

    /// A new buffer of `len` elements whose values are unspecified, for work that writes all that it reads: unlike [`Stream::zeros`] it
    /// takes no time on a GPU. On the CPU and the simulator all bits are set, so that a result that depends on them shows: floats are
    /// NaN, `bool`s are true.
    ///
    /// On a GPU they are whatever was in the memory. Each element type takes any bits: a `bool` is true unless its byte is 0.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or a fault of earlier work.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::best().stream()?;
    /// let x = stream.upload(&[1.0f32, 2.0])?;
    /// let mut copied = stream.uninit::<f32>(2)?;
    /// stream.copy(&x, &mut copied)?;
    /// assert_eq!(stream.download(&copied)?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn uninit<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let mut buffer = Buffer::new(self, len, false)?;
        if self.raw().is_none() {
            self.fill(&mut buffer, T::from_bits(u64::MAX))?;
        }
        Ok(buffer)
    }

    /// Enqueues `value` over each element of a buffer, or of a slice of one.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], or a fault of earlier work.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::best().stream()?;
    /// let mut x = stream.zeros::<f64>(4)?;
    /// stream.fill(&mut x.slice_mut(1..3)?, f64::INFINITY)?;
    /// assert_eq!(stream.download(&x)?, [0.0, f64::INFINITY, f64::INFINITY, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fill<D: DeviceDataMut + ?Sized>(&self, target: &mut D, value: D::Item) -> Result<()> {
        let target = target.as_mut_slice();
        target.allocation().fill(target.offset(), D::Item::bytes_of(&[value]), target.len(), self)
    }

    /// A copy of a buffer, or of a slice of one, on the host. Waits for the work that it depends on.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], or a fault of earlier work.
    pub fn download<S: DeviceData + ?Sized>(&self, source: &S) -> Result<Vec<S::Item>> {
        let mut values = vec![S::Item::from_bits(0); source.as_slice().len()];
        self.copy_to_host(source, &mut values)?;
        Ok(values)
    }

    /// Overwrites a buffer, or a slice of one, with values of the host. Returns when the host memory may be reused.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have the same length, [`Error::WrongDevice`], or a fault of earlier work.
    pub fn copy_from_host<D: DeviceDataMut + ?Sized>(&self, source: &[D::Item], target: &mut D) -> Result<()> {
        let target = target.as_mut_slice();
        same_length(source.len(), target.len())?;
        target.allocation().upload(target.offset(), D::Item::bytes_of(source), self)
    }

    /// Overwrites values of the host with those of a buffer, or of a slice of one. Waits for the work that it depends on.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have the same length, [`Error::WrongDevice`], or a fault of earlier work.
    pub fn copy_to_host<S: DeviceData + ?Sized>(&self, source: &S, target: &mut [S::Item]) -> Result<()> {
        let source = source.as_slice();
        same_length(source.len(), target.len())?;
        S::Item::fill(target, |bytes| source.allocation().download(source.offset(), bytes, self))
    }

    /// Enqueues a copy on the device, between buffers or slices of equal length.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::WrongDevice`], or a fault of earlier work.
    pub fn copy<S, D>(&self, source: &S, target: &mut D) -> Result<()>
    where
        S: DeviceData + ?Sized,
        D: DeviceDataMut<Item = S::Item> + ?Sized,
    {
        let (source, target) = (source.as_slice(), target.as_mut_slice());
        same_length(source.len(), target.len())?;
        let bytes = source.len() * size_of::<S::Item>();
        target.allocation().copy(target.offset(), source.allocation(), source.offset(), bytes, self)
    }

    /// Enqueues a copy from page-locked memory, and returns at once: the host may read the memory meanwhile, and writing to
    /// it waits for the copy.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::WrongDevice`], or a fault of earlier work.
    pub fn upload_pinned<D: DeviceDataMut + ?Sized>(&self, source: &Pinned<D::Item>, target: &mut D) -> Result<()> {
        let target = target.as_mut_slice();
        same_length(source.len(), target.len())?;
        let allocation = target.allocation();
        allocation.check(self, || "the buffer".to_string())?;
        self.refuse_capture("a copy from the host")?;
        if let (Memory::Cuda(memory), Some(pinned), Some(raw)) = (allocation.memory(), source.raw(), self.raw()) {
            let _ordered = Allocation::order(self, [(allocation, true)].into_iter())?;
            return memory.write_pinned(target.offset(), pinned, raw);
        }
        allocation.upload(target.offset(), D::Item::bytes_of(source.as_slice()?), self)
    }

    /// Enqueues a copy into page-locked memory, and returns at once: the host's next access to the memory waits for it.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::WrongDevice`], or a fault of earlier work.
    pub fn download_pinned<S: DeviceData + ?Sized>(&self, source: &S, target: &mut Pinned<S::Item>) -> Result<()> {
        let source = source.as_slice();
        same_length(source.len(), target.len())?;
        let allocation = source.allocation();
        allocation.check(self, || "the buffer".to_string())?;
        self.refuse_capture("a copy to the host")?;
        if let (Memory::Cuda(memory), Some(pinned), Some(raw)) = (allocation.memory(), target.raw_mut(), self.raw()) {
            let _ordered = Allocation::order(self, [(allocation, false)].into_iter())?;
            return memory.read_pinned(source.offset(), pinned, raw);
        }
        S::Item::fill(target.as_mut_slice()?, |bytes| allocation.download(source.offset(), bytes, self))
    }
}

/// Rejects lengths that differ.
pub(crate) fn same_length(source_len: usize, len: usize) -> Result<()> {
    if source_len == len { Ok(()) } else { Err(Error::Length { source_len, len }) }
}
