//! Memory that a stream lends: zero when it is taken, and left zero by every user.
//!
//! **Invariant:** the free memory of a stream is zero in the order of that stream, as far as its users keep to that, and nothing else
//! uses it.

use crate::allocation::Allocation;
use crate::buffer::{Buffer, BufferSlice, BufferSliceMut, DeviceData, DeviceDataMut, sealed};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kept::Lent;
use crate::lent::{self, lent};
use crate::stream::Stream;
use crate::view::{View, ViewMut};
use std::fmt;
use std::sync::Arc;

/// Allocations are at least this long, in bytes.
const LEAST: usize = 4096;

/// Elements that a [`Stream`] lends, for what programs of a launch tell each other: counters, locks, partial sums. Made by
/// [`Stream::scratch`].
///
/// **Contract:** they are zero when they are taken, and the one that takes them leaves them zero: a kernel's last program writes zeros to what was
/// written. So no launch has to clear them first. What is dropped goes back to the stream, whose next work may take it at once. Two streams
/// never share it, nor do two that are taken at a time.
///
/// On the CPU and the simulator taking memory that was not left zero is an error. On a GPU [`Scratch::is_zero`] tells, for tests.
///
/// ```
/// use triton_runtime::{Device, Result};
///
/// # fn main() -> Result<()> {
/// let stream = Device::best().stream()?;
/// let mut counters = stream.scratch::<u32>(64)?;
/// stream.fill(&mut counters, 7)?;
/// assert!(!counters.is_zero()?);
/// stream.fill(&mut counters, 0)?;
/// let at = counters.address();
/// drop(counters);
/// assert_eq!(stream.scratch::<f32>(16)?.address(), at);
/// # Ok(())
/// # }
/// ```
pub struct Scratch<T: Element> {
    stream: Stream,
    buffer: Buffer<T>,
}

impl Stream {
    /// Takes `len` elements that are zero, which go back when they are dropped: see [`Scratch`]. Memory is allocated, and set to zero, where
    /// what is free is too small; it is freed in the order of the stream when a larger one takes its place, or with the stream.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], a fault of earlier work, or on the CPU and the simulator [`Error::Scratch`] if the one who took the memory
    /// before has not left it zero: a launch that failed, too, leaves what it wrote. The memory is then given up, so that the next call
    /// succeeds.
    ///
    /// A stream that is [captured](Stream::capture) takes it from the stream that the capture was asked of. The graph keeps what its work uses.
    pub fn scratch<T: Element>(&self, len: usize) -> Result<Scratch<T>> {
        if let Some(recorder) = self.recorder() {
            return recorder.home().scratch(len);
        }
        let bytes = lent::bytes::<T>(len, self)?;
        let allocation = match self.take(Lent::Scratch, bytes) {
            Some(allocation) => {
                self.check_scratch(&allocation)?;
                allocation
            }
            None => {
                let bytes = bytes.max(LEAST).checked_next_power_of_two();
                let bytes = bytes.ok_or_else(|| Error::out_of_memory(u64::MAX, self.device().to_string()))?;
                Arc::new(Allocation::new(self, bytes, true)?)
            }
        };
        Ok(Scratch { stream: self.clone(), buffer: Buffer::lent(allocation, len) })
    }

    /// Refuses memory that was not left zero, where the host sees at once. It is given up then: a next call shall succeed.
    fn check_scratch(&self, allocation: &Allocation) -> Result<()> {
        let memory = allocation.memory();
        if !memory.is_synchronous() {
            return Ok(());
        }
        let mut bytes = [0; LEAST];
        for offset in (0..memory.len()).step_by(LEAST) {
            let bytes = &mut bytes[..LEAST.min(memory.len() - offset)];
            memory.read(offset, bytes, None)?;
            if let Some(byte) = bytes.iter().position(|&byte| byte != 0) {
                let (len, device) = (memory.len(), self.device().to_string());
                return Err(Error::Scratch { byte: offset + byte, value: bytes[byte], len, device });
            }
        }
        Ok(())
    }
}

impl<T: Element> Scratch<T> {
    /// Whether every element is zero. Waits for the work that it depends on.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub fn is_zero(&self) -> Result<bool> {
        Ok(self.stream.download(&self.buffer)?.iter().all(|value| value.to_bits() == 0))
    }
}

impl<T: Element> Drop for Scratch<T> {
    fn drop(&mut self) {
        // What a graph uses is kept by it.
        if !self.buffer.is_shared() {
            self.stream.give_back(Lent::Scratch, self.buffer.as_slice().allocation());
        }
    }
}

lent!(Scratch);
