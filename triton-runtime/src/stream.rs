//! Streams: queues of work on a device.

use crate::capture::Recorder;
use crate::device::{Backend, Device};
use crate::driver::stream::{RawEvent, RawStream};
use crate::error::{Error, Result};
use crate::event::{Event, EventBackend};
use crate::gpu::Gpu;
use crate::kept::Kept;
use crate::lock;
use crate::memory::Memory;
use crate::sim::SimStream;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// A queue of work on a device: what is enqueued on one stream runs in that order. Clones are the same stream.
///
/// Streams of one device run concurrently, except where they use one [`Buffer`](crate::Buffer): the runtime makes the later use wait
/// for the earlier one. On the CPU device and the simulator every call does its work before it returns.
///
/// A fault of a kernel on a GPU is reported by a later call, as [`Error::Device`](crate::Error::Device).
#[derive(Clone)]
pub struct Stream(Arc<Inner>);

struct Inner {
    device: Device,
    /// What it lends, and is not in use.
    kept: Mutex<Kept>,
    /// If it is captured, or was.
    recorder: Option<Recorder<Stream>>,
    backend: StreamBackend,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let raw = match &self.backend {
            StreamBackend::Cuda(raw) => Some(raw),
            StreamBackend::Cpu | StreamBackend::Sim(_) => None,
        };
        for mut owner in lock(&self.kept).drain() {
            // What a captured stream keeps has the order of the other one.
            if let (None, Some(owner)) = (&self.recorder, Arc::get_mut(&mut owner)) {
                owner.free(raw);
            }
        }
    }
}

/// Frees memory whose last use was on this stream.
pub(crate) fn free(memory: &mut Memory, stream: Option<&RawStream>) {
    if let (Memory::Cuda(memory), Some(stream)) = (&*memory, stream)
        && !memory.frees_in_order()
    {
        // An error here means that the context is dead.
        let _ = stream.synchronize();
    }
    memory.free(stream);
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

impl StreamBackend {
    fn new(device: &Device) -> Result<StreamBackend> {
        Ok(match device.backend() {
            Backend::Cpu => StreamBackend::Cpu,
            Backend::Cuda(context) => StreamBackend::Cuda(RawStream::new(context)?),
            Backend::Sim(options) => StreamBackend::Sim(SimStream::new(options)),
        })
    }
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Stream> {
        Ok(Stream::with(device.clone(), StreamBackend::new(device)?))
    }

    /// One whose work is started before that of others.
    pub(crate) fn urgent(device: &Device) -> Result<Stream> {
        match device.backend() {
            Backend::Cuda(context) => {
                Ok(Stream::with(device.clone(), StreamBackend::Cuda(RawStream::urgent(context)?)))
            }
            Backend::Cpu | Backend::Sim(_) => Stream::new(device),
        }
    }

    pub(crate) fn with(device: Device, backend: StreamBackend) -> Stream {
        Stream(Arc::new(Inner { device, kept: Mutex::default(), recorder: None, backend }))
    }

    /// A stream that another library made: `handle` is its `CUstream`, as [`Stream::as_raw`] gives it (null is the legacy
    /// default stream). It is not destroyed with the last clone.
    ///
    /// On a device without handles (the CPU, the simulator) the handle is ignored.
    ///
    /// # Safety
    /// The handle is a stream of the device's primary context, and it stays valid as long as this stream, its clones and
    /// every buffer, event or page-locked memory last used on it.
    #[allow(
        unsafe_code,
        unsafe_op_in_unsafe_fn,
        reason = "the caller vouches for the handle, as the driver's wrapper asks"
    )]
    pub unsafe fn from_raw(device: &Device, handle: *mut c_void) -> Stream {
        let backend = match device.backend() {
            Backend::Cpu => StreamBackend::Cpu,
            Backend::Sim(options) => StreamBackend::Sim(SimStream::new(options)),
            Backend::Cuda(context) => StreamBackend::Cuda(RawStream::foreign(context, handle)),
        };
        Stream::with(device.clone(), backend)
    }

    /// A new stream of the same device that is captured. The caller ends that.
    pub(crate) fn captured(&self) -> Result<Stream> {
        let (device, backend) = (self.device().clone(), StreamBackend::new(self.device())?);
        let recorder = Some(Recorder::new(self.clone()));
        Ok(Stream(Arc::new(Inner { device, kept: Mutex::default(), recorder, backend })))
    }

    /// Takes down what is enqueued, if the stream is captured.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<&Recorder<Stream>> {
        self.0.recorder.as_ref()
    }

    /// Rejects what a graph cannot hold.
    pub(crate) fn refuse_capture(&self, what: &'static str) -> Result<()> {
        if self.recorder().is_some() { Err(Error::Capture { what }) } else { Ok(()) }
    }

    #[inline]
    pub(crate) fn backend(&self) -> &StreamBackend {
        &self.0.backend
    }

    /// What it lends, and is not in use.
    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.0.kept)
    }

    /// The stream that this one's capture was asked of, or this one if it is not captured: for memory and copies that belong to no graph, such as
    /// a table that is made at the first use, in a capture or not.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::best().stream()?;
    /// let (mut table, mut y) = (None, stream.zeros::<i32>(2)?);
    /// let graph = stream.capture(|captured| {
    ///     let table = table.insert(captured.outside_capture().upload(&[3, 4])?);
    ///     captured.copy(table, &mut y)
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn outside_capture(&self) -> &Stream {
        self.recorder().map_or(self, Recorder::home)
    }

    /// What images are chosen for on a GPU, or on a simulated one.
    #[inline]
    pub(crate) fn gpu(&self) -> Option<Gpu> {
        match self.backend() {
            StreamBackend::Cpu => None,
            StreamBackend::Cuda(raw) => Some(raw.context.gpu),
            StreamBackend::Sim(queue) => Some(queue.gpu()),
        }
    }

    #[inline]
    pub(crate) fn raw(&self) -> Option<&RawStream> {
        match self.backend() {
            StreamBackend::Cuda(raw) => Some(raw),
            StreamBackend::Cpu | StreamBackend::Sim(_) => None,
        }
    }

    /// A number that no other stream has while this one lives.
    #[inline]
    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Waits, on the device, for everything enqueued on another stream so far.
    #[cold]
    pub(crate) fn wait_for(&self, other: &Stream) -> Result<()> {
        match (self.raw(), other.raw()) {
            (Some(me), Some(other)) => me.wait_for(other),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// Whether what is enqueued on it goes into a graph: see [`Stream::capture`]. It does not run then, until the graph is launched.
    pub fn is_captured(&self) -> bool {
        self.recorder().is_some()
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

    /// Waits on the host until everything enqueued so far is done.
    ///
    /// # Errors
    /// A fault of that work; [`Error::Capture`] if the stream is captured.
    pub fn synchronize(&self) -> Result<()> {
        self.refuse_capture("waiting on the host")?;
        self.raw().map_or(Ok(()), RawStream::synchronize)
    }

    /// Whether everything enqueued so far is done. Does not wait.
    ///
    /// # Errors
    /// A fault of that work; [`Error::Capture`] if the stream is captured.
    pub fn is_done(&self) -> Result<bool> {
        self.refuse_capture("asking whether work is done")?;
        self.raw().map_or(Ok(true), RawStream::is_done)
    }

    /// An event after everything enqueued so far, for ordering.
    ///
    /// # Errors
    /// What the driver says; [`Error::Capture`] if the stream is captured.
    pub fn record_event(&self) -> Result<Event> {
        self.event(false)
    }

    /// An event after everything enqueued so far with a timestamp, for [`Event::since`]. For ordering only,
    /// [`Stream::record_event`] is cheaper.
    ///
    /// # Errors
    /// What the driver says; [`Error::Capture`] if the stream is captured.
    pub fn record_timed_event(&self) -> Result<Event> {
        self.event(true)
    }

    fn event(&self, timed: bool) -> Result<Event> {
        self.refuse_capture("an event")?;
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
    /// What the driver says; [`Error::Capture`] if the stream is captured.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.refuse_capture("waiting for an event")?;
        match (self.raw(), event.backend()) {
            (_, EventBackend::Host(_)) => Ok(()),
            (Some(stream), EventBackend::Cuda { raw, .. }) => stream.wait(raw),
            (None, EventBackend::Cuda { raw, .. }) => raw.synchronize(),
        }
    }
}

#[cfg(feature = "sim")]
impl Stream {
    /// What the last launch on this stream is counted by; `None` before the first, and on other devices than
    /// [`Device::sim`].
    pub fn statistics(&self) -> Option<crate::sim::Statistics> {
        match self.backend() {
            StreamBackend::Sim(queue) => queue.statistics(),
            StreamBackend::Cpu | StreamBackend::Cuda(_) => None,
        }
    }
}

impl Device {
    /// A new stream on this device.
    ///
    /// # Errors
    /// What the driver says; never on the CPU or the simulator.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self)
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
