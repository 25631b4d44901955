//! The memory of a buffer on any device, without the order of its uses.

use crate::cpu::memory as cpu;
use crate::driver::host::HostMemory;
use crate::driver::memory::DeviceMemory;
use crate::driver::stream::RawStream;
use crate::error::{Error, Result};
use crate::sim::SimMemory;
use std::sync::Arc;

/// Bytes of a device. Those of a GPU are freed by [`Memory::free`] alone.
#[derive(Debug)]
pub(crate) enum Memory {
    Cpu(Arc<HostMemory>),
    Cuda(DeviceMemory),
    Sim(SimMemory),
}

impl Memory {
    /// Zeroed memory of the CPU.
    pub(crate) fn on_cpu(bytes: usize) -> Option<Memory> {
        cpu::allocate(bytes).map(Memory::Cpu)
    }

    /// The address of the first byte.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        match self {
            Memory::Cpu(block) => block.address(),
            Memory::Cuda(memory) => memory.address(),
            Memory::Sim(block) => block.address(),
        }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Memory::Cpu(block) => block.len(),
            Memory::Cuda(memory) => memory.len(),
            Memory::Sim(block) => block.len(),
        }
    }

    /// Whether work on it is done when the call that enqueues it returns.
    #[inline]
    pub(crate) fn is_synchronous(&self) -> bool {
        match self {
            Memory::Cpu(_) | Memory::Sim(_) => true,
            Memory::Cuda(_) => false,
        }
    }

    /// Frees it in the order of a stream, if it is of a GPU. Where the device has no pools, the caller has waited for all uses.
    pub(crate) fn free(&mut self, stream: Option<&RawStream>) {
        match (self, stream) {
            (Memory::Cpu(block), _) => cpu::forget(block),
            (Memory::Cuda(memory), Some(stream)) => memory.free(stream),
            // Of the simulator it frees itself.
            (Memory::Cuda(_) | Memory::Sim(_), _) => {}
        }
    }

    /// Copies from the host, and returns when it has the bytes.
    pub(crate) fn write(&self, offset: usize, source: &[u8], stream: Option<&RawStream>) -> Result<()> {
        match (self, stream) {
            (Memory::Cuda(memory), Some(stream)) => memory.write(offset, source, stream),
            (Memory::Cpu(block), _) => self.inside(block.write(offset, source), offset, source.len()),
            (Memory::Sim(block), _) => self.inside(block.write(offset, source), offset, source.len()),
            // Callers have checked that stream and memory are of one device.
            (Memory::Cuda(_), _) => Ok(()),
        }
    }

    /// Copies to the host, and returns when the bytes are there.
    pub(crate) fn read(&self, offset: usize, target: &mut [u8], stream: Option<&RawStream>) -> Result<()> {
        let bytes = target.len();
        match (self, stream) {
            (Memory::Cuda(memory), Some(stream)) => memory.read(offset, target, stream),
            (Memory::Cpu(block), _) => self.inside(block.read(offset, target), offset, bytes),
            (Memory::Sim(block), _) => self.inside(block.read(offset, target), offset, bytes),
            // As above.
            (Memory::Cuda(_), _) => Ok(()),
        }
    }

    /// Enqueues a copy on the device.
    pub(crate) fn copy(
        &self,
        offset: usize,
        source: &Memory,
        source_offset: usize,
        bytes: usize,
        stream: Option<&RawStream>,
    ) -> Result<()> {
        match (self, source, stream) {
            (Memory::Cuda(to), Memory::Cuda(from), Some(stream)) => to.copy(offset, from, source_offset, bytes, stream),
            (Memory::Cpu(to), Memory::Cpu(from), _) => {
                self.inside(to.copy(offset, from, source_offset, bytes), offset, bytes)
            }
            (Memory::Sim(to), Memory::Sim(from), _) => {
                self.inside(to.copy(offset, from, source_offset, bytes), offset, bytes)
            }
            // As above.
            (
                Memory::Cpu(_) | Memory::Cuda(_) | Memory::Sim(_),
                Memory::Cpu(_) | Memory::Cuda(_) | Memory::Sim(_),
                _,
            ) => Ok(()),
        }
    }

    /// Enqueues an element of 1, 2, 4 or 8 bytes over each of `count` elements.
    pub(crate) fn fill(&self, offset: usize, element: &[u8], count: usize, stream: Option<&RawStream>) -> Result<()> {
        match (self, stream) {
            (Memory::Cuda(memory), Some(stream)) => memory.fill(offset, element, count, stream),
            // The host has the elements of a buffer in memory, or could not have made the buffer.
            (Memory::Cpu(_) | Memory::Sim(_), _) => self.write(offset, &element.repeat(count), stream),
            // As above.
            (Memory::Cuda(_), _) => Ok(()),
        }
    }

    fn inside(&self, done: bool, offset: usize, bytes: usize) -> Result<()> {
        if done {
            return Ok(());
        }
        Err(Error::OutOfRange { start: offset, end: offset.saturating_add(bytes), len: self.len() })
    }
}
