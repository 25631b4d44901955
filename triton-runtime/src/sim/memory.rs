//! Buffers in the memory of the simulated device.

use crate::lock;
use std::sync::{LazyLock, Mutex};
use triton_sim::Memory;

static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(|| Mutex::new(Memory::new()));

/// Accesses the memory exclusively, to look at it or to let a launch change it.
pub(crate) fn with<R>(body: impl FnOnce(&mut Memory) -> R) -> R {
    body(&mut lock(&MEMORY))
}

/// One allocation. Once it is dropped, kernels that use it are reported.
#[derive(Debug)]
pub(crate) struct SimMemory {
    address: u64,
    bytes: usize,
}

impl SimMemory {
    /// Zeroed memory; `None` when there is not enough.
    pub(crate) fn new(bytes: usize) -> Option<SimMemory> {
        let address = with(|memory| memory.alloc(bytes as u64)).ok()?;
        Some(SimMemory { address, bytes })
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// The address of bytes inside this block.
    fn at(&self, offset: usize, bytes: usize) -> Option<u64> {
        (offset.checked_add(bytes)? <= self.bytes).then_some(self.address + offset as u64)
    }

    /// Copies out; `false` if the range does not lie inside.
    #[must_use]
    pub(crate) fn read(&self, offset: usize, target: &mut [u8]) -> bool {
        let Some(address) = self.at(offset, target.len()) else { return false };
        with(|memory| memory.read(address, target.len() as u64).map(|bytes| target.copy_from_slice(bytes))).is_ok()
    }

    /// Copies in; `false` if the range does not lie inside.
    #[must_use]
    pub(crate) fn write(&self, offset: usize, source: &[u8]) -> bool {
        let Some(address) = self.at(offset, source.len()) else { return false };
        with(|memory| memory.write(address, source)).is_ok()
    }

    /// Copies between blocks; `false` if a range does not lie inside.
    #[must_use]
    pub(crate) fn copy(&self, offset: usize, source: &SimMemory, source_offset: usize, bytes: usize) -> bool {
        let (Some(to), Some(from)) = (self.at(offset, bytes), source.at(source_offset, bytes)) else { return false };
        with(|memory| {
            let bytes = memory.read(from, bytes as u64)?.to_vec();
            memory.write(to, &bytes)
        })
        .is_ok()
    }
}

impl Drop for SimMemory {
    fn drop(&mut self) {
        // It is allocated as long as this lives, so that it can be freed.
        let _ = with(|memory| memory.free(self.address));
    }
}
