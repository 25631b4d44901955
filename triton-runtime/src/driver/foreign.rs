//! Streams that other libraries own.

use super::stream::RawStream;
use crate::device::{Device, Place};
use crate::stream::Stream;

impl Stream {
    /// A stream that another library made: `handle` is its `CUstream` (0 is the legacy default stream). It is not destroyed
    /// with the last clone.
    ///
    /// On a device without handles (the CPU) the handle is ignored.
    ///
    /// # Safety
    /// The handle is a stream of the device's primary context, and it stays valid as long as this stream, its clones and
    /// every buffer, event or page-locked memory last used on it.
    pub unsafe fn from_raw(device: &Device, handle: usize) -> Stream {
        match device.place() {
            Place::Cpu => Stream::on_cpu(device.clone()),
            Place::Cuda(context) => {
                let handle = std::ptr::with_exposed_provenance_mut(handle);
                // SAFETY: the caller vouches for the handle.
                Stream::on_cuda(device.clone(), unsafe { RawStream::foreign(context, handle) })
            }
        }
    }
}
