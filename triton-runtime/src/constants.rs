//! Numbers that launches read again and again: a stream uploads them once and keeps them by their contents.

use crate::allocation::Allocation;
use crate::buffer::{Buffer, BufferSlice, DeviceData, sealed};
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::kept::Numbers;
use crate::lent::allocation;
use crate::stream::Stream;
use crate::view::View;
use std::fmt;
use std::sync::Arc;

/// Elements that a [`Stream`] lends to be read, such as a table of strides that follows from shapes. Made by [`Stream::constants`].
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::best().stream()?;
/// let first = stream.constants(&[1, 2, 3, 4])?;
/// assert_eq!(stream.download(&first)?, [1, 2, 3, 4]);
/// let at = first.address();
/// drop(first);
/// // Nothing is copied.
/// assert_eq!(stream.constants(&[1, 2, 3, 4])?.address(), at);
/// # Ok(())
/// # }
/// ```
pub struct Constants<T: Element> {
    /// Whose order it is in.
    stream: Stream,
    /// That it was asked of, if the work is captured.
    captured: Option<Stream>,
    contents: Box<[u8]>,
    buffer: Buffer<T>,
}

impl Stream {
    /// Takes elements of these values to be read, which go back when they are dropped: see [`Constants`]. They are uploaded, which waits, unless the
    /// stream has such: it keeps 64 arrays at most, of 1 MiB in all, those that were lent last.
    ///
    /// A stream that is [captured](Stream::capture) takes them from the stream that the capture was asked of, which uploads them during the capture. The
    /// graph keeps them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or a fault of earlier work.
    pub fn constants<T: Element>(&self, values: &[T]) -> Result<Constants<T>> {
        let (stream, captured) = (self.outside_capture(), self.is_captured().then_some(self));
        let bytes = T::bytes_of(values);
        // What this graph has already is in the order of its work.
        let own = captured.and_then(|captured| captured.kept().take_constants(bytes)).and_then(found);
        let (contents, allocation) = match own.or_else(|| stream.take_constants(bytes)) {
            Some(found) => found,
            None => {
                let allocation = Arc::new(Allocation::new(stream, bytes.len(), false)?);
                allocation.upload(0, bytes, stream)?;
                (bytes.into(), allocation)
            }
        };
        let (stream, captured) = (stream.clone(), captured.cloned());
        Ok(Constants { stream, captured, contents, buffer: Buffer::lent(allocation, values.len()) })
    }

    fn take_constants(&self, bytes: &[u8]) -> Option<(Box<[u8]>, Arc<Allocation>)> {
        let (contents, allocation) = self.kept().take_constants(bytes).and_then(found)?;
        allocation.wake(self);
        Some((contents, allocation))
    }
}

fn found(numbers: Numbers) -> Option<(Box<[u8]>, Arc<Allocation>)> {
    Some((numbers.contents, allocation(numbers.owner)?))
}

impl<T: Element> Constants<T> {
    /// The elements as an array of this shape, in row-major order: see [`Buffer::view`].
    ///
    /// # Errors
    /// [`Error::View`](crate::Error::View) if there are too few elements, [`Error::Extent`](crate::Error::Extent).
    pub fn view<const R: usize>(&self, shape: [usize; R]) -> Result<View<'_, T, R>> {
        self.buffer.view(shape)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device whose memory it is in.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }

    /// The address of the first element on the device.
    pub fn address(&self) -> u64 {
        self.buffer.address()
    }
}

impl<T: Element> Drop for Constants<T> {
    fn drop(&mut self) {
        let contents = std::mem::take(&mut self.contents);
        let is_of_graph = self.buffer.is_shared();
        let allocation = self.buffer.as_slice().allocation().clone();
        match (is_of_graph, &self.captured) {
            (true, None) => {}
            // What is too much there is the graph's alone.
            (true, Some(captured)) => drop(captured.kept().push_constants(Numbers { contents, owner: allocation })),
            // What cannot be ordered is freed by its owner.
            (false, _) => {
                if allocation.rest(&self.stream).is_ok() {
                    let oldest = self.stream.kept().push_constants(Numbers { contents, owner: allocation });
                    self.stream.give_up(oldest);
                }
            }
        }
    }
}

impl<T: Element> sealed::Sealed for Constants<T> {}

impl<T: Element> DeviceData for Constants<T> {
    type Item = T;

    fn as_slice(&self) -> BufferSlice<'_, T> {
        self.buffer.as_slice()
    }
}

impl<T: Element> fmt::Debug for Constants<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constants([{}; {}] of {:?})", std::any::type_name::<T>(), self.len(), self.stream)
    }
}
