//! Memory of the CPU device: zeroed, aligned like a GPU's, and accessed by kernels through relaxed atomics.
//!
//! **Invariant:** every access is checked against the allocation, so that no kernel can reach other memory.

use crate::reach::Reach;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// What a GPU's allocator aligns to, in bytes.
const ALIGN: usize = 256;

/// One allocation.
#[derive(Debug)]
pub(crate) struct HostMemory {
    pointer: NonNull<u8>,
    bytes: usize,
    /// Of memory that it owns.
    layout: Option<Layout>,
}

// SAFETY: the memory is owned, or stays borrowed while a launch has it; kernels reach it through atomics, and host copies through the borrows of its buffer.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Zeroed memory; `None` when there is not enough. A gap follows each block, so that an access just past its end meets
    /// no other block.
    pub(crate) fn new(bytes: usize) -> Option<HostMemory> {
        let padded = bytes.checked_add(ALIGN)?;
        let layout = Layout::from_size_align(padded, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let pointer = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(HostMemory { pointer, bytes, layout: Some(layout) })
    }

    /// Memory of another owner, for the time of a launch; `None` of an address that this process cannot have.
    pub(crate) fn foreign(region: Reach) -> Option<HostMemory> {
        let bytes = usize::try_from(region.bytes).ok()?;
        let pointer = std::ptr::with_exposed_provenance_mut(usize::try_from(region.address).ok()?);
        Some(HostMemory { pointer: NonNull::new(pointer)?, bytes, layout: None })
    }

    /// The address of the first byte.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.pointer.addr().get() as u64
    }

    /// Number of bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    fn at(&self, offset: usize, bytes: usize) -> Option<*mut u8> {
        let end = offset.checked_add(bytes)?;
        // SAFETY: the offset lies inside the allocation: its own, or that of a region, which its maker vouches for.
        (end <= self.bytes).then(|| unsafe { self.pointer.as_ptr().add(offset) })
    }

    /// Whether an element of `W` bytes is at its natural alignment there. A block of its own is, other memory may begin anywhere.
    #[inline]
    fn is_aligned<const W: usize>(&self, offset: usize) -> bool {
        self.pointer.addr().get().wrapping_add(offset).is_multiple_of(W)
    }

    /// Copies out; `false` if the range does not lie inside.
    #[must_use]
    pub(crate) fn read(&self, offset: usize, target: &mut [u8]) -> bool {
        let Some(source) = self.at(offset, target.len()) else { return false };
        // SAFETY: the range was checked, and a host slice never overlaps a block.
        unsafe { std::ptr::copy_nonoverlapping(source, target.as_mut_ptr(), target.len()) };
        true
    }

    /// Copies in; `false` if the range does not lie inside.
    #[must_use]
    pub(crate) fn write(&self, offset: usize, source: &[u8]) -> bool {
        let Some(target) = self.at(offset, source.len()) else { return false };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target, source.len()) };
        true
    }

    /// Copies between blocks; `false` if a range does not lie inside.
    #[must_use]
    pub(crate) fn copy(&self, offset: usize, source: &HostMemory, source_offset: usize, bytes: usize) -> bool {
        let (Some(to), Some(from)) = (self.at(offset, bytes), source.at(source_offset, bytes)) else { return false };
        // SAFETY: both ranges were checked; they may overlap.
        unsafe { std::ptr::copy(from, to, bytes) };
        true
    }

    /// An element of `W` bytes (1, 2, 4 or 8), zero-extended; `None` outside the block or off its natural alignment.
    #[inline]
    pub(crate) fn load<const W: usize>(&self, offset: usize) -> Option<u64> {
        if !self.is_aligned::<W>(offset) {
            return None;
        }
        let pointer = self.at(offset, W)?;
        // SAFETY: the element lies inside the block and is aligned.
        Some(unsafe {
            match W {
                1 => u64::from(AtomicU8::from_ptr(pointer).load(Relaxed)),
                2 => u64::from(AtomicU16::from_ptr(pointer.cast()).load(Relaxed)),
                4 => u64::from(AtomicU32::from_ptr(pointer.cast()).load(Relaxed)),
                8 => AtomicU64::from_ptr(pointer.cast()).load(Relaxed),
                _ => return None,
            }
        })
    }

    /// Writes an element of `W` bytes; `None` outside the block or off its natural alignment.
    #[inline]
    pub(crate) fn store<const W: usize>(&self, offset: usize, value: u64) -> Option<()> {
        if !self.is_aligned::<W>(offset) {
            return None;
        }
        let pointer = self.at(offset, W)?;
        // SAFETY: as above.
        unsafe {
            match W {
                1 => AtomicU8::from_ptr(pointer).store(value as u8, Relaxed),
                2 => AtomicU16::from_ptr(pointer.cast()).store(value as u16, Relaxed),
                4 => AtomicU32::from_ptr(pointer.cast()).store(value as u32, Relaxed),
                8 => AtomicU64::from_ptr(pointer.cast()).store(value, Relaxed),
                _ => return None,
            }
        }
        Some(())
    }

    /// Replaces an element of `W` bytes by a function of it, in one step, and gives what it was; `None` outside the block or off
    /// its natural alignment. The function may be called again with another element.
    #[inline]
    pub(crate) fn update<const W: usize>(&self, offset: usize, mut replace: impl FnMut(u64) -> u64) -> Option<u64> {
        if !self.is_aligned::<W>(offset) {
            return None;
        }
        let pointer = self.at(offset, W)?;
        macro_rules! update {
            ($atomic:ty, $int:ty) => {{
                // SAFETY: as above.
                let element = unsafe { <$atomic>::from_ptr(pointer.cast()) };
                let old = element.fetch_update(Relaxed, Relaxed, |old| Some(replace(u64::from(old)) as $int));
                Some(old.map_or_else(u64::from, u64::from))
            }};
        }
        match W {
            1 => update!(AtomicU8, u8),
            2 => update!(AtomicU16, u16),
            4 => update!(AtomicU32, u32),
            8 => update!(AtomicU64, u64),
            _ => None,
        }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.pointer.as_ptr(), layout) };
        }
    }
}
