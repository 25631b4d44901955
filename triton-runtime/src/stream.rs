//! Streams: queues of work on a device.

use crate::allocation::Memory;
use crate::buffer::{Buffer, DeviceData, DeviceDataMut};
use crate::device::{Backend, Device};
use crate::driver::stream::{RawEvent, RawStream};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::{Event, EventBackend};
use crate::pinned::Pinned;
use crate::sim::SimStream;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A queue of work on a device: what is enqueued on one stream runs in that order. Clones are the same stream.
///
/// Streams of one device run concurrently, except where they use one [`Buffer`]: the runtime makes the later use wait
/// for the earlier one. On the CPU device and the simulator every call does its work before it returns.
///
/// A fault of a kernel on a GPU is reported by a later call, as [`Error::Device`].
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    device: Device,
    backend: StreamBackend,
}

/// How the work of a stream is done.
pub(crate) enum StreamBackend {
    /// At once, by the interpreter.
    Cpu,
    /// By the driver.
    Cuda(RawStream),
    /// At once, by the simulator.
    Sim(SimStream),
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Stream> {
        let backend = match device.backend() {
            Backend::Cpu => StreamBackend::Cpu,
            Backend::Cuda(context) => StreamBackend::Cuda(RawStream::new(context)?),
            Backend::Sim(options) => StreamBackend::Sim(SimStream::new(options)),
        };
        Ok(Stream::with(device.clone(), backend))
    }

    pub(crate) fn with(device: Device, backend: StreamBackend) -> Stream {
        Stream(Arc::new(Inner { device, backend }))
    }

    #[inline]
    pub(crate) fn backend(&self) -> &StreamBackend {
        &self.0.backend
    }

    #[inline]
    pub(crate) fn raw(&self) -> Option<&RawStream> {
        match self.backend() {
            StreamBackend::Cuda(raw) => Some(raw),
            StreamBackend::Cpu | StreamBackend::Sim(_) => None,
        }
    }

    /// Whether both are the same stream.
    #[inline]
    pub(crate) fn is(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Waits, on the device, for everything enqueued on another stream so far.
    #[cold]
    pub(crate) fn wait_for(&self, other: &Stream) -> Result<()> {
        match (self.raw(), other.raw()) {
            (Some(me), Some(other)) => me.wait_for(other),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// The device it works on.
    #[inline]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The driver's `CUstream`, for other libraries; null is the legacy default stream. `None` on the CPU and the simulator.
    ///
    /// Work that others enqueue on it is ordered with ours on this stream; uses of one buffer from our other streams are
    /// not ordered with work that we do not know of.
    pub fn as_raw(&self) -> Option<*mut c_void> {
        self.raw().map(RawStream::pointer)
    }

    /// A new buffer with a copy of `values`. Returns when the host memory may be reused.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or a fault of earlier work.
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::new(self, values.len(), false)?;
        self.copy_from_host(values, &mut buffer)?;
        Ok(buffer)
    }

    /// A new buffer of `len` elements that are zero (or `false`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or a fault of earlier work.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::new(self, len, true)
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
        target.allocation().upload(target.offset(), D::Item::as_bytes(source), self)
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
        if let (Memory::Cuda(memory), Some(pinned), Some(raw)) = (allocation.memory(), source.raw(), self.raw()) {
            allocation.write(self)?;
            return memory.write_pinned(target.offset(), pinned, raw);
        }
        allocation.upload(target.offset(), D::Item::as_bytes(source.as_slice()?), self)
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
        if let (Memory::Cuda(memory), Some(pinned), Some(raw)) = (allocation.memory(), target.raw_mut(), self.raw()) {
            allocation.read(self)?;
            return memory.read_pinned(source.offset(), pinned, raw);
        }
        S::Item::fill(target.as_mut_slice()?, |bytes| allocation.download(source.offset(), bytes, self))
    }

    /// Waits on the host until everything enqueued so far is done.
    ///
    /// # Errors
    /// A fault of that work.
    pub fn synchronize(&self) -> Result<()> {
        self.raw().map_or(Ok(()), RawStream::synchronize)
    }

    /// Whether everything enqueued so far is done. Does not wait.
    ///
    /// # Errors
    /// A fault of that work.
    pub fn is_done(&self) -> Result<bool> {
        self.raw().map_or(Ok(true), RawStream::is_done)
    }

    /// An event after everything enqueued so far, for ordering.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record_event(&self) -> Result<Event> {
        self.event(false)
    }

    /// An event after everything enqueued so far with a timestamp, for [`Event::since`]. For ordering only,
    /// [`Stream::record_event`] is cheaper.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record_timed_event(&self) -> Result<Event> {
        self.event(true)
    }

    fn event(&self, timed: bool) -> Result<Event> {
        let kind = match self.raw() {
            None => EventBackend::Host(Instant::now()),
            Some(raw) => EventBackend::Cuda { raw: RawEvent::record(raw, timed)?, timed },
        };
        Ok(Event::new(self.device().clone(), kind))
    }

    /// Makes what is enqueued from now on wait for an event, which may be of another device. On the CPU and the simulator
    /// the call itself waits.
    ///
    /// # Errors
    /// What the driver says.
    pub fn wait(&self, event: &Event) -> Result<()> {
        match (self.raw(), event.backend()) {
            (_, EventBackend::Host(_)) => Ok(()),
            (Some(stream), EventBackend::Cuda { raw, .. }) => stream.wait(raw),
            (None, EventBackend::Cuda { raw, .. }) => raw.synchronize(),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_raw() {
            None => write!(f, "Stream({})", self.device()),
            Some(handle) => write!(f, "Stream({}, {handle:p})", self.device()),
        }
    }
}

fn same_length(source_len: usize, len: usize) -> Result<()> {
    if source_len == len { Ok(()) } else { Err(Error::Length { source_len, len }) }
}
