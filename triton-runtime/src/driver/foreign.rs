//! Streams that other libraries own.

use super::stream::RawStream;
use crate::device::{Backend, Device};
use crate::sim::SimStream;
use crate::stream::{Stream, StreamBackend};
use std::ffi::c_void;

impl Stream {
    /// A stream that another library made: `handle` is its `CUstream`, as [`Stream::as_raw`] gives it (null is the legacy
    /// default stream). It is not destroyed with the last clone.
    ///
    /// On a device without handles (the CPU, the simulator) the handle is ignored.
    ///
    /// # Safety
    /// The handle is a stream of the device's primary context, and it stays valid as long as this stream, its clones and
    /// every buffer, event or page-locked memory last used on it.
    pub unsafe fn from_raw(device: &Device, handle: *mut c_void) -> Stream {
        let backend = match device.backend() {
            Backend::Cpu => StreamBackend::Cpu,
            Backend::Sim(options) => StreamBackend::Sim(SimStream::new(options)),
            Backend::Cuda(context) => {
                // SAFETY: the caller vouches for the handle.
                StreamBackend::Cuda(unsafe { RawStream::foreign(context, handle.cast()) })
            }
        };
        Stream::with(device.clone(), backend)
    }
}
