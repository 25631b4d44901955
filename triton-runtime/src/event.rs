//! Points in a stream, for ordering and timing.

use crate::device::Device;
use crate::driver::stream::RawEvent;
use crate::error::{Error, Result};
use std::time::{Duration, Instant};

/// A point in a stream: everything enqueued before it. Made by [`Stream::record_event`](crate::Stream::record_event), or
/// by [`Stream::record_timed_event`](crate::Stream::record_timed_event) if the time matters.
#[derive(Debug)]
pub struct Event {
    device: Device,
    backend: EventBackend,
}

#[derive(Debug)]
pub(crate) enum EventBackend {
    /// Of a device that works synchronously.
    Host(Instant),
    Cuda {
        raw: RawEvent,
        timed: bool,
    },
}

impl Event {
    pub(crate) fn new(device: Device, backend: EventBackend) -> Event {
        Event { device, backend }
    }

    pub(crate) fn backend(&self) -> &EventBackend {
        &self.backend
    }

    /// The device of the stream it was recorded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits on the host until everything before it is done.
    ///
    /// # Errors
    /// A fault of the work before it.
    pub fn synchronize(&self) -> Result<()> {
        match &self.backend {
            EventBackend::Host(_) => Ok(()),
            EventBackend::Cuda { raw, .. } => raw.synchronize(),
        }
    }

    /// Whether everything before it is done.
    ///
    /// # Errors
    /// A fault of the work before it.
    pub fn is_done(&self) -> Result<bool> {
        match &self.backend {
            EventBackend::Host(_) => Ok(true),
            EventBackend::Cuda { raw, .. } => raw.is_done(),
        }
    }

    /// The time from another event to this one, as the device measured it; waits for both.
    ///
    /// On a GPU the resolution is about half a microsecond. Other streams' work between the two is part of the time.
    ///
    /// # Errors
    /// [`Error::Timing`] unless both are of one device, made by
    /// [`Stream::record_timed_event`](crate::Stream::record_timed_event), and in this order; a fault of the work before them.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::best().stream()?;
    /// let x = stream.upload(&vec![1.0f32; 1 << 16])?;
    /// let mut y = stream.zeros::<f32>(1 << 16)?;
    /// let start = stream.record_timed_event()?;
    /// stream.copy(&x, &mut y)?;
    /// let end = stream.record_timed_event()?;
    /// println!("the copy took {:?}", end.since(&start)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn since(&self, start: &Event) -> Result<Duration> {
        if start.device != self.device {
            return Err(Error::Timing { reason: "the two events are of different devices" });
        }
        let backwards = Error::Timing { reason: "the event comes before the other" };
        match (&start.backend, &self.backend) {
            (EventBackend::Host(start), EventBackend::Host(end)) => end.checked_duration_since(*start).ok_or(backwards),
            (EventBackend::Cuda { raw: start, timed: true }, EventBackend::Cuda { raw: end, timed: true }) => {
                let seconds = f64::from(RawEvent::elapsed_ms(start, end)?) / 1e3;
                Duration::try_from_secs_f64(seconds).map_err(|_| backwards)
            }
            (EventBackend::Host(_) | EventBackend::Cuda { .. }, EventBackend::Host(_) | EventBackend::Cuda { .. }) => {
                Err(Error::Timing { reason: "an event was recorded without its time" })
            }
        }
    }
}
