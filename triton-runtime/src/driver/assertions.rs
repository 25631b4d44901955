//! Memory in which a kernel describes the assertion that failed: host memory, since a trap takes the device's with it.

use super::context::Context;
use super::cu;
use crate::error::Error;
use std::ptr::NonNull;

/// 16 bytes that host and device share. They are never freed: a kernel stays loaded.
#[derive(Debug)]
pub(crate) struct AssertionSlot(NonNull<[u32; 4]>);

// SAFETY: the memory is never freed, and the host only reads it, as it may change at any time.
unsafe impl Send for AssertionSlot {}
// SAFETY: as above.
unsafe impl Sync for AssertionSlot {}

impl AssertionSlot {
    /// An empty slot.
    pub(crate) fn new(context: &Context) -> Result<AssertionSlot, Error> {
        context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a pointer; 3 is CU_MEMHOSTALLOC_PORTABLE and CU_MEMHOSTALLOC_DEVICEMAP.
        unsafe { cu!(context.driver, cuMemHostAlloc(&mut raw, size_of::<[u32; 4]>(), 3)) }?;
        let pointer = NonNull::new(raw.cast::<[u32; 4]>())
            .ok_or_else(|| Error::out_of_memory(16, "the host (page-locked)".to_string()))?;
        // SAFETY: the driver gave this many bytes, on a page of their own.
        unsafe { pointer.as_ptr().write([0; 4]) };
        Ok(AssertionSlot(pointer))
    }

    /// The address, on the host as on the device: they share one address space.
    pub(crate) fn address(&self) -> u64 {
        self.0.addr().get() as u64
    }

    /// The number of the text of the assertion that failed, and the program; `None` if none has.
    pub(crate) fn read(&self) -> Option<(u32, [u32; 3])> {
        // SAFETY: the memory is never freed; a device may write it meanwhile, so the read is volatile.
        let [number, x, y, z] = unsafe { self.0.as_ptr().read_volatile() };
        Some((number.checked_sub(1)?, [x, y, z]))
    }
}
