//! Points in a stream, for ordering and timing.

use crate::device::Device;
use crate::driver::stream::RawEvent;
use crate::error::{Error, Result};
use std::time::Instant;

/// A point in a stream: everything enqueued before it. Made by [`Stream::record`](crate::Stream::record), or by
/// [`Stream::record_timed`](crate::Stream::record_timed) if the time matters.
#[derive(Debug)]
pub struct Event {
    device: Device,
    kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// Of a device that does its work at once.
    Host(Instant),
    Cuda {
        raw: RawEvent,
        timed: bool,
    },
}

impl Event {
    pub(crate) fn new(device: Device, kind: Kind) -> Event {
        Event { device, kind }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
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
        match &self.kind {
            Kind::Host(_) => Ok(()),
            Kind::Cuda { raw, .. } => raw.synchronize(),
        }
    }

    /// Whether everything before it is done.
    ///
    /// # Errors
    /// A fault of the work before it.
    pub fn is_done(&self) -> Result<bool> {
        match &self.kind {
            Kind::Host(_) => Ok(true),
            Kind::Cuda { raw, .. } => raw.is_done(),
        }
    }

    /// Milliseconds from `start` to `end`, as the device measured them; waits for both.
    ///
    /// # Errors
    /// [`Error::Untimed`] unless both are of one device and made by
    /// [`Stream::record_timed`](crate::Stream::record_timed); a fault of the work before them.
    pub fn elapsed_ms(start: &Event, end: &Event) -> Result<f32> {
        if start.device != end.device {
            return Err(Error::Untimed { reason: "the two events are of different devices" });
        }
        match (&start.kind, &end.kind) {
            (Kind::Host(a), Kind::Host(b)) => {
                Ok(if b >= a { (*b - *a).as_secs_f32() * 1e3 } else { -((*a - *b).as_secs_f32() * 1e3) })
            }
            (Kind::Cuda { raw: a, timed: true }, Kind::Cuda { raw: b, timed: true }) => RawEvent::elapsed_ms(a, b),
            (Kind::Host(_) | Kind::Cuda { .. }, Kind::Host(_) | Kind::Cuda { .. }) => {
                Err(Error::Untimed { reason: "an event was recorded without its time" })
            }
        }
    }
}
