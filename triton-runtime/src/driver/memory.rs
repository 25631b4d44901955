//! Memory of a CUDA device.

use super::context::Context;
use super::pinned::PinnedMemory;
use super::stream::RawStream;
use super::{OUT_OF_MEMORY, cu};
use crate::error::Error;

/// An allocation on a device. Who owns it calls [`DeviceMemory::free`]; dropping alone leaks, since only the owner knows
/// which streams still use it.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    pub(super) context: &'static Context,
    address: u64,
    bytes: usize,
}

impl DeviceMemory {
    /// Allocates in the order of a stream; the contents are unspecified. No bytes have address 0.
    pub(crate) fn new(stream: &RawStream, bytes: usize) -> Result<DeviceMemory, Error> {
        let context = stream.context;
        if bytes == 0 {
            return Ok(DeviceMemory { context, address: 0, bytes });
        }
        if bytes as u64 > context.total_memory {
            return Err(DeviceMemory::exhausted(context, bytes));
        }
        context.enter()?;
        let allocate = |address: &mut u64| match context.pool {
            // SAFETY: the pointer is to an address; pool and stream are alive.
            Some(pool) => unsafe {
                (context.driver.api.cuMemAllocFromPoolAsync)(address, bytes, pool.0, stream.handle.0)
            },
            // SAFETY: as above.
            None => unsafe { (context.driver.api.cuMemAlloc_v2)(address, bytes) },
        };
        let mut address = 0;
        let mut code = allocate(&mut address);
        if code == OUT_OF_MEMORY {
            // What other streams have freed, or freed in pieces, comes back once everything is done.
            context.synchronize()?;
            if let Some(pool) = context.pool {
                // SAFETY: the pool is alive.
                unsafe { cu!(context.driver, cuMemPoolTrimTo(pool.0, 0)) }?;
            }
            code = allocate(&mut address);
        }
        if code == OUT_OF_MEMORY {
            return Err(DeviceMemory::exhausted(context, bytes));
        }
        let call = if context.pool.is_some() { "cuMemAllocFromPoolAsync" } else { "cuMemAlloc" };
        context.driver.check(call, code)?;
        Ok(DeviceMemory { context, address, bytes })
    }

    #[cold]
    fn exhausted(context: &Context, bytes: usize) -> Error {
        let (mut free, mut total) = (0, 0);
        if context.enter().is_ok() {
            // SAFETY: the pointers are to sizes. Without an answer the numbers stay 0.
            let _ = unsafe { cu!(context.driver, cuMemGetInfo_v2(&mut free, &mut total)) };
        }
        Error::OutOfMemory {
            requested: bytes as u64,
            free: free as u64,
            total: total as u64,
            device: context.to_string(),
        }
    }

    /// The address on the device.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Whether freeing does not block the host: see [`DeviceMemory::free`].
    pub(crate) fn frees_in_order(&self) -> bool {
        self.context.pool.is_some()
    }

    /// Frees in the order of a stream. Where the device has no pools, the caller has waited for all uses.
    pub(crate) fn free(&mut self, stream: &RawStream) {
        let address = std::mem::take(&mut self.address);
        self.bytes = 0;
        if address == 0 || self.context.enter().is_err() {
            return;
        }
        // A failure means that the context is gone, and the memory with it.
        let _ = match self.context.pool {
            // SAFETY: the address was allocated here, and nothing is enqueued on it after this.
            Some(_) => unsafe { cu!(self.context.driver, cuMemFreeAsync(address, stream.handle.0)) },
            // SAFETY: as above.
            None => unsafe { cu!(self.context.driver, cuMemFree_v2(address)) },
        };
    }

    /// The address of bytes inside this memory.
    pub(super) fn at(&self, offset: usize, bytes: usize) -> Result<u64, Error> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(self.address + offset as u64),
            _ => Err(Error::OutOfRange { start: offset, end: offset.saturating_add(bytes), len: self.bytes }),
        }
    }

    /// Enqueues zeros over everything.
    pub(crate) fn clear(&self, stream: &RawStream) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: the range is this allocation.
        unsafe { cu!(self.context.driver, cuMemsetD8Async(self.address, 0, self.bytes, stream.handle.0)) }
    }

    /// Enqueues an element of 1, 2, 4 or 8 bytes over each of `count` elements.
    pub(crate) fn fill(&self, offset: usize, element: &[u8], count: usize, stream: &RawStream) -> Result<(), Error> {
        let address = self.at(offset, element.len().saturating_mul(count))?;
        if count == 0 {
            return Ok(());
        }
        let (driver, handle) = (self.context.driver, stream.handle.0);
        self.context.enter()?;
        let fill = |address: u64, word: [u8; 4], count: usize| {
            // SAFETY: the callers pass words that lie in this allocation, aligned as the elements are.
            unsafe { cu!(driver, cuMemsetD32Async(address, u32::from_ne_bytes(word), count, handle)) }
        };
        match *element {
            // SAFETY: the range lies in this allocation.
            [byte] => unsafe { cu!(driver, cuMemsetD8Async(address, byte, count, handle)) },
            // SAFETY: as above; elements are aligned.
            [a, b] => unsafe { cu!(driver, cuMemsetD16Async(address, u16::from_ne_bytes([a, b]), count, handle)) },
            [a, b, c, d] => fill(address, [a, b, c, d], count),
            [a, b, c, d, e, f, g, h] if [a, b, c, d] == [e, f, g, h] => fill(address, [a, b, c, d], 2 * count),
            [a, b, c, d, e, f, g, h] => {
                // The driver sets no words of 8 bytes. Copies double what is filled, so that they are few.
                fill(address, [a, b, c, d], 1)?;
                fill(address + 4, [e, f, g, h], 1)?;
                let mut filled = 1;
                while filled < count {
                    let more = filled.min(count - filled);
                    self.copy(offset + 8 * filled, self, offset, 8 * more, stream)?;
                    filled += more;
                }
                Ok(())
            }
            _ => Err(Error::Driver { call: "cuMemset", code: 1, message: "no element has this width".to_string() }),
        }
    }

    /// Copies from the host, and returns when it has the bytes.
    pub(crate) fn write(&self, offset: usize, source: &[u8], stream: &RawStream) -> Result<(), Error> {
        let address = self.at(offset, source.len())?;
        if source.is_empty() {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: the range lies in this allocation. The source outlives the copy, since we wait: a device that reads
        // pageable memory itself, or a slice in page-locked memory, would make the copy truly asynchronous.
        let enqueued = unsafe {
            cu!(
                self.context.driver,
                cuMemcpyHtoDAsync_v2(address, source.as_ptr().cast(), source.len(), stream.handle.0)
            )
        };
        stream.synchronize().and(enqueued)
    }

    /// Copies to the host, and returns when the bytes are there.
    pub(crate) fn read(&self, offset: usize, target: &mut [u8], stream: &RawStream) -> Result<(), Error> {
        let address = self.at(offset, target.len())?;
        if target.is_empty() {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: the range lies in this allocation, and the target outlives the copy, since we wait.
        let enqueued = unsafe {
            cu!(
                self.context.driver,
                cuMemcpyDtoHAsync_v2(target.as_mut_ptr().cast(), address, target.len(), stream.handle.0)
            )
        };
        stream.synchronize().and(enqueued)
    }

    /// Enqueues a copy on the device.
    pub(crate) fn copy(
        &self,
        offset: usize,
        source: &DeviceMemory,
        source_offset: usize,
        bytes: usize,
        stream: &RawStream,
    ) -> Result<(), Error> {
        let (to, from) = (self.at(offset, bytes)?, source.at(source_offset, bytes)?);
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: both ranges lie in their allocations.
        unsafe { cu!(self.context.driver, cuMemcpyDtoDAsync_v2(to, from, bytes, stream.handle.0)) }
    }

    /// Enqueues a copy of all of a page-locked memory to the device.
    pub(crate) fn write_pinned(&self, offset: usize, source: &PinnedMemory, stream: &RawStream) -> Result<(), Error> {
        let address = self.at(offset, source.len())?;
        source.enqueue(stream, false, |pointer, bytes| {
            // SAFETY: the range lies in this allocation, and the page-locked memory waits for the copy before it goes.
            unsafe { cu!(self.context.driver, cuMemcpyHtoDAsync_v2(address, pointer.cast(), bytes, stream.handle.0)) }
        })
    }

    /// Enqueues a copy that fills a page-locked memory from the device.
    pub(crate) fn read_pinned(
        &self,
        offset: usize,
        target: &mut PinnedMemory,
        stream: &RawStream,
    ) -> Result<(), Error> {
        let address = self.at(offset, target.len())?;
        target.enqueue(stream, true, |pointer, bytes| {
            // SAFETY: as above.
            unsafe { cu!(self.context.driver, cuMemcpyDtoHAsync_v2(pointer.cast(), address, bytes, stream.handle.0)) }
        })
    }
}
