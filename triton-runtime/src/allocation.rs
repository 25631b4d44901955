//! Memory of a buffer and the streams of its last uses.
//!
//! **Invariant:** uses are in the order that [`stream_order`](crate::stream_order) says.

use crate::capture::{Resource, Step};
use crate::device::Device;
use crate::driver::memory::DeviceMemory;
use crate::driver::stream::RawStream;
use crate::error::{Error, Result};
use crate::kept::Keep;
use crate::memory::Memory;
use crate::replays::WithoutReplays;
use crate::stream::{Stream, StreamBackend, free};
use crate::stream_order::{OrderedStream, StreamUses};
use std::sync::Arc;

/// Held until the uses that were ordered are enqueued.
pub(crate) type Ordered = Option<WithoutReplays<'static>>;

/// What a buffer owns.
#[derive(Debug)]
pub(crate) struct Allocation {
    device: Device,
    memory: Memory,
    uses: StreamUses<Stream>,
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
    /// New memory; zeroed if `zeroed`, else its contents are unspecified.
    pub(crate) fn new(stream: &Stream, bytes: usize, zeroed: bool) -> Result<Allocation> {
        stream.refuse_capture("a new buffer")?;
        let memory = match stream.backend() {
            StreamBackend::Cpu => Memory::on_cpu(bytes)
                .ok_or_else(|| Error::out_of_memory(bytes as u64, stream.device().name().to_string()))?,
            StreamBackend::Cuda(raw) => Memory::Cuda(DeviceMemory::new(raw, bytes)?),
            StreamBackend::Sim(queue) => Memory::Sim(queue.allocate(bytes)?),
        };
        let allocation = Allocation::of(stream, memory);
        if let (true, Memory::Cuda(memory), Some(raw)) = (zeroed, &allocation.memory, stream.raw()) {
            memory.clear(raw)?;
        }
        Ok(allocation)
    }

    /// Memory whose last use was on this stream.
    fn of(stream: &Stream, memory: Memory) -> Allocation {
        Allocation { device: stream.device().clone(), memory, uses: StreamUses::new(stream.clone()) }
    }

    /// Orders what comes next on a stream of this device after all uses, and forgets them: the stream keeps the memory from now on.
    pub(crate) fn rest(&self, stream: &Stream) -> Result<()> {
        self.write(stream)?;
        self.uses.rest();
        Ok(())
    }

    /// The next use of memory that rested, which the stream has kept.
    pub(crate) fn wake(&self, stream: &Stream) {
        self.uses.wake(stream.clone());
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
        self.memory.address()
    }

    /// Rejects a stream of another device.
    #[inline]
    pub(crate) fn check(&self, stream: &Stream, what: impl FnOnce() -> String) -> Result<()> {
        if self.device == *stream.device() {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what(), found: self.device.to_string(), expected: stream.device().to_string() })
    }

    /// Whether a use on a stream needs neither [a check](Allocation::check) nor [an order](Allocation::order): the last write was on the same stream, and
    /// so is of its device, and no graph has the memory. Of memory of a GPU; that of another device says no.
    #[inline]
    pub(crate) fn is_in_order(&self, stream: &Stream, writes: bool) -> bool {
        self.uses.is_in_order(stream, writes) && !self.uses.is_captured()
    }

    /// Orders uses that are about to be enqueued on a stream of their device, each with whether it writes; if the stream is captured, takes them
    /// down instead. What is returned is held until they are enqueued.
    #[inline]
    pub(crate) fn order<'a>(
        stream: &Stream,
        uses: impl Iterator<Item = (&'a Arc<Allocation>, bool)> + Clone,
    ) -> Result<Ordered> {
        if stream.recorder().is_some() {
            return Allocation::record(stream, uses);
        }
        let captured = uses.clone().any(|(allocation, _)| allocation.uses.is_captured());
        let ordered = captured.then(|| stream.device().replays().exclude());
        for (allocation, writes) in uses {
            if writes { allocation.write(stream)? } else { allocation.read(stream)? }
        }
        Ok(ordered)
    }

    /// Takes uses down for a graph.
    #[cold]
    fn record<'a>(stream: &Stream, uses: impl Iterator<Item = (&'a Arc<Allocation>, bool)>) -> Result<Ordered> {
        let ordered = stream.device().replays().exclude();
        for (allocation, writes) in uses {
            allocation.uses.capture();
            if let Some(recorder) = stream.recorder() {
                recorder.add_use(allocation.clone(), writes)?;
            }
        }
        Ok(Some(ordered))
    }

    /// Orders a read that is about to be enqueued on a stream of this device.
    #[inline]
    fn read(&self, stream: &Stream) -> Result<()> {
        if self.memory.is_synchronous() { Ok(()) } else { self.uses.read(stream) }
    }

    /// Orders a write that is about to be enqueued on a stream of this device.
    #[inline]
    fn write(&self, stream: &Stream) -> Result<()> {
        if self.memory.is_synchronous() { Ok(()) } else { self.uses.write(stream) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let (writer, readers) = self.uses.last();
        // An error here means that the context is dead: there is nothing left to order.
        let raw = writer.as_ref().and_then(Stream::raw);
        if let (Memory::Cuda(memory), Some(raw)) = (&self.memory, raw) {
            if memory.frees_in_order() {
                for reader in readers.iter().filter_map(Stream::raw) {
                    if raw.wait_for(reader).is_err() {
                        let _ = reader.synchronize();
                    }
                }
            } else {
                for stream in writer.iter().chain(&readers).filter_map(Stream::raw) {
                    let _ = stream.synchronize();
                }
            }
        }
        self.memory.free(raw);
    }
}

impl Keep for Allocation {
    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn address(&self) -> u64 {
        self.memory.address()
    }

    fn free(&mut self, stream: Option<&RawStream>) {
        free(&mut self.memory, stream);
    }
}

impl Resource<Stream> for Allocation {
    fn order(&self, stream: &Stream, writes: bool) -> Result<()> {
        if writes { self.write(stream) } else { self.read(stream) }
    }
}

/// Copies.
impl Allocation {
    /// Copies from the host, and returns when it has the bytes.
    pub(crate) fn upload(self: &Arc<Self>, offset: usize, source: &[u8], stream: &Stream) -> Result<()> {
        self.check(stream, || "the buffer".to_string())?;
        stream.refuse_capture("a copy from the host")?;
        let _ordered = Allocation::order(stream, [(self, true)].into_iter())?;
        self.memory.write(offset, source, stream.raw())
    }

    /// Copies to the host, and returns when the bytes are there.
    pub(crate) fn download(self: &Arc<Self>, offset: usize, target: &mut [u8], stream: &Stream) -> Result<()> {
        self.check(stream, || "the buffer".to_string())?;
        stream.refuse_capture("a copy to the host")?;
        let _ordered = Allocation::order(stream, [(self, false)].into_iter())?;
        self.memory.read(offset, target, stream.raw())
    }

    /// Enqueues a copy on the device.
    pub(crate) fn copy(
        self: &Arc<Self>,
        offset: usize,
        source: &Arc<Allocation>,
        source_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<()> {
        source.check(stream, || "the source".to_string())?;
        self.check(stream, || "the destination".to_string())?;
        let _ordered = Allocation::order(stream, [(source, false), (self, true)].into_iter())?;
        let (to, from) = (self.clone(), source.clone());
        enqueue(stream, move |raw| to.memory.copy(offset, &from.memory, source_offset, bytes, raw))
    }

    /// Enqueues a copy from memory of another device, on a stream of either.
    pub(crate) fn copy_from_peer(
        self: &Arc<Self>,
        offset: usize,
        source: &Arc<Allocation>,
        source_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<()> {
        let (Memory::Cuda(to), Memory::Cuda(from), Some(raw)) = (&self.memory, &source.memory, stream.raw()) else {
            return self.copy(offset, source, source_offset, bytes, stream);
        };
        if self.device == source.device {
            return self.copy(offset, source, source_offset, bytes, stream);
        }
        let is_here = self.device == *stream.device();
        if !is_here {
            source.check(stream, || "the source".to_string())?;
        }
        stream.refuse_capture("a copy between devices")?;
        let (here, there) = if is_here { (self, source) } else { (source, self) };
        let _ordered = Allocation::order(stream, [(here, is_here)].into_iter())?;
        let _replays = there.uses.is_captured().then(|| there.device.replays().exclude());
        let copy = || to.copy_from_peer(offset, from, source_offset, bytes, raw);
        if is_here { there.uses.read_by(stream, copy) } else { there.uses.write_by(stream, copy) }
    }

    /// Enqueues a copy from memory of another device, on a stream of that, which the caller orders.
    pub(crate) fn copy_unordered(
        &self,
        offset: usize,
        source: &Allocation,
        source_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<()> {
        match (&self.memory, &source.memory, stream.raw()) {
            (Memory::Cuda(to), Memory::Cuda(from), Some(raw)) => {
                to.copy_from_peer(offset, from, source_offset, bytes, raw)
            }
            (to, from, raw) => to.copy(offset, from, source_offset, bytes, raw),
        }
    }

    /// Enqueues an element over each of `count` elements.
    pub(crate) fn fill(self: &Arc<Self>, offset: usize, element: &[u8], count: usize, stream: &Stream) -> Result<()> {
        self.check(stream, || "the buffer".to_string())?;
        let _ordered = Allocation::order(stream, [(self, true)].into_iter())?;
        let (to, element) = (self.clone(), element.to_vec());
        enqueue(stream, move |raw| to.memory.fill(offset, &element, count, raw))
    }
}

/// Does work, or takes it down where a captured stream has no driver that does.
fn enqueue(stream: &Stream, work: impl Fn(Option<&RawStream>) -> Result<()> + Send + Sync + 'static) -> Result<()> {
    match (stream.recorder(), stream.raw()) {
        (Some(recorder), None) => recorder.add_step(Step::alone(move |stream: &Stream| work(stream.raw()))),
        (_, raw) => work(raw),
    }
}
