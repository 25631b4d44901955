//! Page-locked host memory, which tracks the copies in flight.
//!
//! **Invariant:** the host never accesses the bytes while a copy writes them, nor writes them while a copy reads them,
//! and the memory is only freed when no copy is in flight.

use super::context::Context;
use super::stream::{RawEvent, RawStream};
use super::{OUT_OF_MEMORY, cu};
use crate::error::Error;
use crate::lock;
use std::ptr::NonNull;
use std::sync::Mutex;

/// Page-locked bytes.
#[derive(Debug)]
pub(crate) struct PinnedMemory {
    context: &'static Context,
    pointer: NonNull<u8>,
    bytes: usize,
    pending: Mutex<Pending>,
}

/// The copies in flight: for each stream, an event after its last one.
#[derive(Debug, Default)]
struct Pending {
    /// Device to host.
    into: Vec<(u64, RawEvent)>,
    /// Host to device.
    from: Vec<(u64, RawEvent)>,
}

// SAFETY: the pointer is owned, and access goes through the methods below.
unsafe impl Send for PinnedMemory {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Zeroed page-locked memory.
    pub(crate) fn new(context: &'static Context, bytes: usize) -> Result<PinnedMemory, Error> {
        // The alignment of an empty allocation must still suit every element.
        let mut pointer = NonNull::<u64>::dangling().cast::<u8>();
        if bytes > 0 {
            context.enter()?;
            let mut raw = std::ptr::null_mut();
            // SAFETY: the pointer is to a pointer; 1 is CU_MEMHOSTALLOC_PORTABLE.
            let code = unsafe { (context.driver.api.cuMemHostAlloc)(&mut raw, bytes, 1) };
            if code == OUT_OF_MEMORY {
                return Err(Error::out_of_memory(bytes as u64, "the host (page-locked)".to_string()));
            }
            context.driver.check("cuMemHostAlloc", code)?;
            pointer = NonNull::new(raw.cast())
                .ok_or_else(|| Error::out_of_memory(bytes as u64, "the host (page-locked)".to_string()))?;
            // SAFETY: the driver gave this many bytes.
            unsafe { pointer.as_ptr().write_bytes(0, bytes) };
        }
        Ok(PinnedMemory { context, pointer, bytes, pending: Mutex::default() })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Runs `copy` so that it is ordered after the copies that it conflicts with, and is tracked. `fills` says that the
    /// copy writes this memory.
    pub(super) fn enqueue(
        &self,
        stream: &RawStream,
        fills: bool,
        copy: impl FnOnce(*mut u8, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.bytes == 0 {
            return Ok(());
        }
        let mut pending = lock(&self.pending);
        let Pending { into, from } = &mut *pending;
        let me = stream.id;
        for (other, event) in into.iter().chain(from.iter().filter(|_| fills)) {
            if *other != me {
                stream.wait(event)?;
            }
        }
        stream.context.enter()?;
        copy(self.pointer.as_ptr(), self.bytes)?;
        let list = if fills { into } else { from };
        let recorded = match list.iter().position(|(other, _)| *other == me) {
            Some(i) => list[i].1.record_again(stream),
            None => RawEvent::record(stream, false).map(|event| list.push((me, event))),
        };
        // A copy without an event must complete before the memory can be accessed.
        recorded.or_else(|error| stream.synchronize().and(Err(error)))
    }

    /// The bytes, when no copy fills them any more. `tidy` runs once after such copies.
    pub(crate) fn bytes(&self, tidy: impl FnOnce(&mut [u8])) -> Result<&[u8], Error> {
        let mut pending = lock(&self.pending);
        if !pending.into.is_empty() {
            for (_, event) in &pending.into {
                event.synchronize()?;
            }
            pending.into.clear();
            // SAFETY: filling needs `&mut self`, so that no earlier slice exists; the lock excludes others.
            tidy(unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.bytes) });
        }
        // SAFETY: the memory is initialised and lives as long as `self`; copies in flight only read it.
        Ok(unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.bytes) })
    }

    /// The bytes, when no copy uses them any more.
    pub(crate) fn bytes_mut(&mut self, tidy: impl FnOnce(&mut [u8])) -> Result<&mut [u8], Error> {
        self.bytes(tidy)?;
        let mut pending = lock(&self.pending);
        for (_, event) in &pending.from {
            event.synchronize()?;
        }
        pending.from.clear();
        // SAFETY: the borrow is exclusive, and no copy is in flight.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.bytes) })
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        let pending = std::mem::take(&mut *lock(&self.pending));
        for (_, event) in pending.into.iter().chain(&pending.from) {
            // An error means that the context is dead, and its copies with it.
            let _ = event.synchronize();
        }
        if self.bytes > 0 && self.context.enter().is_ok() {
            // SAFETY: the memory came from the driver, and no copy is left.
            let _ = unsafe { cu!(self.context.driver, cuMemFreeHost(self.pointer.as_ptr().cast())) };
        }
    }
}
