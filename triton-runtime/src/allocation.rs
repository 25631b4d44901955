//! Memory of a buffer and the streams of its last uses.
//!
//! **Invariant:** uses are in the order that [`stream_order`](crate::stream_order) says.

use crate::cpu::memory as cpu;
use crate::device::Device;
use crate::driver::host::HostMemory;
use crate::driver::memory::DeviceMemory;
use crate::error::{Error, Result};
use crate::sim::SimMemory;
use crate::stream::{Stream, StreamBackend};
use crate::stream_order::{OrderedStream, StreamUses};
use std::sync::Arc;

/// What a buffer owns.
#[derive(Debug)]
pub(crate) struct Allocation {
    device: Device,
    memory: Memory,
    uses: StreamUses<Stream>,
}

#[derive(Debug)]
pub(crate) enum Memory {
    Cpu(Arc<HostMemory>),
    Cuda(DeviceMemory),
    Sim(SimMemory),
}

impl OrderedStream for Stream {
    type Error = Error;

    #[inline]
    fn key(&self) -> usize {
        Stream::key(self)
    }

    #[inline]
    fn wait_for(&self, other: &Stream) -> Result<()> {
        Stream::wait_for(self, other)
    }
}

impl Allocation {
    /// Zeroed memory if `zeroed`; else its contents are unspecified, and the caller writes them before they are read.
    pub(crate) fn new(stream: &Stream, bytes: usize, zeroed: bool) -> Result<Allocation> {
        let memory = match stream.backend() {
            StreamBackend::Cpu => Memory::Cpu(
                cpu::allocate(bytes)
                    .ok_or_else(|| Error::out_of_memory(bytes as u64, stream.device().name().to_string()))?,
            ),
            StreamBackend::Cuda(raw) => Memory::Cuda(DeviceMemory::new(raw, bytes)?),
            StreamBackend::Sim(queue) => Memory::Sim(queue.allocate(bytes)?),
        };
        let uses = StreamUses::new(stream.clone());
        let allocation = Allocation { device: stream.device().clone(), memory, uses };
        if let (true, Memory::Cuda(memory), Some(raw)) = (zeroed, &allocation.memory, stream.raw()) {
            memory.clear(raw)?;
        }
        Ok(allocation)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The address of the first byte.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        match &self.memory {
            Memory::Cpu(block) => block.address(),
            Memory::Cuda(memory) => memory.address(),
            Memory::Sim(block) => block.address(),
        }
    }

    /// Rejects a stream of another device.
    #[inline]
    pub(crate) fn check(&self, stream: &Stream, what: impl FnOnce() -> String) -> Result<()> {
        if self.device == *stream.device() {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what(), found: self.device.to_string(), expected: stream.device().to_string() })
    }

    /// Orders a read that is about to be enqueued on a stream of this device.
    #[inline]
    pub(crate) fn read(&self, stream: &Stream) -> Result<()> {
        if self.is_ordered() { Ok(()) } else { self.uses.read(stream) }
    }

    /// Orders a write that is about to be enqueued on a stream of this device.
    #[inline]
    pub(crate) fn write(&self, stream: &Stream) -> Result<()> {
        if self.is_ordered() { Ok(()) } else { self.uses.write(stream) }
    }

    /// Whether everything is done when its call returns.
    #[inline]
    fn is_ordered(&self) -> bool {
        match self.memory {
            Memory::Cpu(_) | Memory::Sim(_) => true,
            Memory::Cuda(_) => false,
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let memory = match &mut self.memory {
            Memory::Cpu(block) => return cpu::forget(block),
            Memory::Cuda(memory) => memory,
            // It frees itself.
            Memory::Sim(_) => return,
        };
        let (writer, readers) = self.uses.last();
        let Some(raw) = writer.raw() else { return };
        // An error here means that the context is dead: there is nothing left to order.
        if memory.frees_in_order() {
            for reader in readers.iter().filter_map(Stream::raw) {
                if raw.wait_for(reader).is_err() {
                    let _ = reader.synchronize();
                }
            }
        } else {
            for stream in std::iter::once(&writer).chain(&readers).filter_map(Stream::raw) {
                let _ = stream.synchronize();
            }
        }
        memory.free(raw);
    }
}

/// Copies.
impl Allocation {
    /// Copies from the host, and returns when it has the bytes.
    pub(crate) fn upload(&self, offset: usize, source: &[u8], stream: &Stream) -> Result<()> {
        self.check(stream, || "the buffer".to_string())?;
        match (&self.memory, stream.raw()) {
            (Memory::Cuda(memory), Some(raw)) => {
                self.write(stream)?;
                memory.write(offset, source, raw)
            }
            (Memory::Cpu(block), _) => inside(block.write(offset, source), offset, source.len(), block.len()),
            (Memory::Sim(block), _) => inside(block.write(offset, source), offset, source.len(), block.len()),
            // The check above rules out mixed devices.
            (Memory::Cuda(_), None) => Ok(()),
        }
    }

    /// Copies to the host, and returns when the bytes are there.
    pub(crate) fn download(&self, offset: usize, target: &mut [u8], stream: &Stream) -> Result<()> {
        self.check(stream, || "the buffer".to_string())?;
        match (&self.memory, stream.raw()) {
            (Memory::Cuda(memory), Some(raw)) => {
                self.read(stream)?;
                memory.read(offset, target, raw)
            }
            (Memory::Cpu(block), _) => {
                let bytes = target.len();
                inside(block.read(offset, target), offset, bytes, block.len())
            }
            (Memory::Sim(block), _) => {
                let bytes = target.len();
                inside(block.read(offset, target), offset, bytes, block.len())
            }
            // The check above rules out mixed devices.
            (Memory::Cuda(_), None) => Ok(()),
        }
    }

    /// Enqueues a copy on the device.
    pub(crate) fn copy(
        &self,
        offset: usize,
        source: &Allocation,
        source_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<()> {
        source.check(stream, || "the source".to_string())?;
        self.check(stream, || "the destination".to_string())?;
        match (&self.memory, &source.memory, stream.raw()) {
            (Memory::Cuda(to), Memory::Cuda(from), Some(raw)) => {
                source.read(stream)?;
                self.write(stream)?;
                to.copy(offset, from, source_offset, bytes, raw)
            }
            (Memory::Cpu(to), Memory::Cpu(from), _) => {
                inside(to.copy(offset, from, source_offset, bytes), offset, bytes, to.len())
            }
            (Memory::Sim(to), Memory::Sim(from), _) => {
                inside(to.copy(offset, from, source_offset, bytes), offset, bytes, to.len())
            }
            // The checks above rule out mixed devices.
            (
                Memory::Cpu(_) | Memory::Cuda(_) | Memory::Sim(_),
                Memory::Cpu(_) | Memory::Cuda(_) | Memory::Sim(_),
                _,
            ) => Ok(()),
        }
    }
}

fn inside(done: bool, offset: usize, bytes: usize, len: usize) -> Result<()> {
    if done { Ok(()) } else { Err(Error::OutOfRange { start: offset, end: offset.saturating_add(bytes), len }) }
}
