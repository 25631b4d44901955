//! Memory that a stream lends for intermediate results: unspecified when it is taken.

use crate::allocation::Allocation;
use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, DeviceData, DeviceDataMut, sealed};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kept::Lent;
use crate::lent::{self, allocation, lent};
use crate::stream::Stream;
use crate::view::{View, ViewMut};
use std::fmt;
use std::sync::Arc;

/// Allocations are at least this long, in bytes.
const LEAST: usize = 4096;

/// Elements that a [`Stream`] lends for intermediate results, between the launches of one operation. Made by [`Stream::workspace`].
///
/// Their values are unspecified, as those of [`Stream::uninit`]: write all that is read. Unlike a buffer's, their memory goes back to the stream when
/// they are dropped, whose next work may take it at once, as it comes later. Those that are alive at a time never share memory, nor do two
/// streams.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::best().stream()?;
/// let x = stream.upload(&[1.0f32, 2.0])?;
/// let (mut first, mut second) = (stream.workspace::<f32>(2)?, stream.workspace::<f32>(2)?);
/// stream.copy(&x, &mut first)?;
/// stream.copy(&first, &mut second)?;
/// assert_eq!(stream.download(&second)?, [1.0, 2.0]);
/// let at = second.address();
/// drop(second);
/// assert_eq!(stream.workspace::<f64>(100)?.address(), at);
/// # Ok(())
/// # }
/// ```
pub struct Workspace<T: Element> {
    /// Whose order it is in.
    stream: Stream,
    /// That it was asked of, if the work is captured.
    captured: Option<Stream>,
    buffer: Buffer<T>,
}

impl Stream {
    /// Takes `len` elements whose values are unspecified, which go back when they are dropped: see [`Workspace`]. Memory is allocated where what is
    /// free is too small; it is freed in the order of the stream when a larger one takes its place, or with the stream, or by
    /// [`Stream::trim`]. On the CPU and the simulator all bits are set, so that a result that depends on them shows.
    ///
    /// A stream that is [captured](Stream::capture) takes it from the stream that the capture was asked of. Work that is captured later takes it again;
    /// the graph keeps it, and nothing else uses it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or a fault of earlier work.
    pub fn workspace<T: Element>(&self, len: usize) -> Result<Workspace<T>> {
        let (stream, captured) = (self.outside_capture(), self.is_captured().then_some(self));
        let bytes = lent::bytes::<T>(len, self)?;
        // What this graph has already is in the order of its work.
        let own = captured.and_then(|captured| captured.kept().take(Lent::Workspace, bytes)).and_then(allocation);
        let allocation = match own.or_else(|| stream.take(Lent::Workspace, bytes)) {
            Some(allocation) => allocation,
            None => {
                let bytes = rounded(bytes).ok_or_else(|| Error::out_of_memory(u64::MAX, self.device().to_string()))?;
                Arc::new(Allocation::new(stream, bytes, false)?)
            }
        };
        let (stream, captured) = (stream.clone(), captured.cloned());
        let mut workspace = Workspace { stream, captured, buffer: Buffer::lent(allocation, len) };
        if self.raw().is_none() {
            self.fill(&mut workspace, T::from_bits(u64::MAX))?;
        }
        Ok(workspace)
    }
}

/// Bytes of an allocation: an eighth more at most, so that shapes that differ a little share one.
fn rounded(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(LEAST);
    bytes.checked_next_multiple_of(bytes.checked_next_power_of_two()? / 16)
}

impl<T: Element> Drop for Workspace<T> {
    fn drop(&mut self) {
        let is_of_graph = self.buffer.is_shared();
        let slice = self.buffer.as_slice();
        match (is_of_graph, &self.captured) {
            (false, _) => self.stream.give_back(Lent::Workspace, slice.allocation()),
            (true, Some(captured)) => captured.kept().push(Lent::Workspace, slice.allocation().clone()),
            (true, None) => {}
        }
    }
}

lent!(Workspace);
