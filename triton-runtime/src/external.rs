//! Work of other libraries in the order of a stream: collectives, copies between devices, a solver.

use crate::allocation::Allocation;
use crate::args::{IntoView, IntoViewMut};
use crate::capture::Step;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::contiguous;
use crate::replays::Replaying;
use crate::stream::Stream;
use crate::view::{Memory, View};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use triton_ir::types::DType;

/// A view without gaps, in row-major order, that [`Stream::external`] lends to work that is not a kernel's. It borrows the view's memory: to be
/// written, exclusively.
///
/// ```
/// use triton_runtime::{Device, Operand, Result};
///
/// # fn main() -> Result<()> {
/// let x = Device::cpu().stream()?.tensor(&[1.0f32; 12], [3, 4])?;
/// let rows = Operand::read(x.narrow(0, 1..)?)?;
/// assert_eq!((rows.len(), rows.bytes()), (8, 32));
/// let error = Operand::read(x.transpose()).unwrap_err().to_string();
/// assert_eq!(error, "a view of shape [4, 3] with strides [1, 4] is not contiguous; copy it into a tensor, and pass that");
/// # Ok(())
/// # }
/// ```
pub struct Operand<'a> {
    region: Region,
    borrowed: PhantomData<&'a mut ()>,
}

/// The memory of an [`Operand`], for the work that [`Stream::external`] is given.
#[derive(Clone)]
pub struct Region {
    owner: Owner,
    /// Of the first byte: from the start of a buffer, or an address.
    offset: usize,
    len: usize,
    dtype: DType,
    is_written: bool,
    /// Whether a graph uses the memory, too, on a device where that is not on a stream.
    takes_turns: bool,
}

#[derive(Clone)]
enum Owner {
    Buffer(Arc<Allocation>),
    /// Another owner's memory, or none.
    Other(Device),
}

impl<'a> Operand<'a> {
    /// Elements that are read.
    ///
    /// # Errors
    /// [`Error::Contiguous`] of a view with gaps, or in another order than row-major; [`Error::Foreign`] of memory of the host that is not a
    /// buffer's.
    pub fn read<T: Element, const R: usize>(view: impl IntoView<'a, T, R>) -> Result<Operand<'a>> {
        Operand::of(view.into_view(), false)
    }

    /// Elements that are written, and may be read.
    ///
    /// # Errors
    /// Those of [`Operand::read`].
    pub fn write<T: Element, const R: usize>(view: impl IntoViewMut<'a, T, R>) -> Result<Operand<'a>> {
        Operand::of(view.into_view_mut().into_read(), true)
    }

    fn of<T: Element, const R: usize>(view: View<'a, T, R>, is_written: bool) -> Result<Operand<'a>> {
        let len = contiguous(&view.shape(), &view.strides())?;
        let (owner, offset) = match view.memory() {
            Memory::Buffer(allocation) => {
                (Owner::Buffer(allocation.clone()), (view.address() - allocation.address()) as usize)
            }
            Memory::Foreign(other) if other.device().context().is_none() => {
                let reason =
                    "work that is not a kernel's takes a buffer's memory; copy it by stream.upload(..)".to_string();
                return Err(Error::Foreign { address: view.address(), device: view.device().to_string(), reason });
            }
            // Addresses of a device fit the host's.
            Memory::Foreign(_) | Memory::None(_) => (Owner::Other(view.device().clone()), view.address() as usize),
        };
        let region = Region { owner, offset, len, dtype: T::DTYPE, is_written, takes_turns: false };
        Ok(Operand { region, borrowed: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.region.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.region.bytes()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.region.dtype
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        self.region.device()
    }
}

impl Region {
    /// The address of the first byte on the device.
    pub fn address(&self) -> u64 {
        let offset = self.offset as u64;
        if let Owner::Buffer(allocation) = &self.owner { allocation.address() + offset } else { offset }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.len * self.dtype.bytes() as usize
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        match &self.owner {
            Owner::Buffer(allocation) => allocation.device(),
            Owner::Other(device) => device,
        }
    }

    /// Copies all of it to the host, on the stream that the work is given, and returns when the bytes are there. A GPU is waited for.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is room for exactly as many bytes as there are; [`Error::Foreign`] of memory that is not a buffer's;
    /// [`Error::Capture`] if a stream of a GPU is captured; or a fault of earlier work.
    pub fn read(&self, stream: &Stream, target: &mut [u8]) -> Result<()> {
        let allocation = self.on_host(stream, target.len())?;
        let _alone = self.alone();
        allocation.memory().read(self.offset, target, stream.raw())
    }

    /// Copies from the host over all of it, on the stream that the work is given, and returns when it has the bytes.
    ///
    /// # Errors
    /// Those of [`Region::read`], and [`Error::Foreign`] of an operand that is only read.
    pub fn write(&self, stream: &Stream, source: &[u8]) -> Result<()> {
        if !self.is_written {
            return Err(self.refused("it was lent to be read"));
        }
        let allocation = self.on_host(stream, source.len())?;
        let _alone = self.alone();
        allocation.memory().write(self.offset, source, stream.raw())
    }

    /// Enqueues a copy of another region of the same device over this one, on the stream that the work is given.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have as many bytes; [`Error::Foreign`] of memory that is not a buffer's, or is only lent to be read; or a fault of
    /// earlier work.
    pub fn copy_from(&self, stream: &Stream, source: &Region) -> Result<()> {
        if source.bytes() != self.bytes() {
            return Err(Error::Length { source_len: source.bytes(), len: self.bytes() });
        }
        if !self.is_written {
            return Err(self.refused("it was lent to be read"));
        }
        let (Owner::Buffer(to), Owner::Buffer(from)) = (&self.owner, &source.owner) else {
            return Err(self.refused("the memory of one of the two is another owner's, which has to copy it"));
        };
        to.check(stream, || "the destination".to_string())?;
        from.check(stream, || "the source".to_string())?;
        let _alone = self.alone();
        to.memory().copy(self.offset, from.memory(), source.offset, self.bytes(), stream.raw())
    }

    /// The `len` elements from `start` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] of elements that it does not have.
    pub fn narrow(&self, start: usize, len: usize) -> Result<Region> {
        let end = start.checked_add(len).filter(|end| *end <= self.len);
        end.ok_or(Error::OutOfRange { start, end: start.saturating_add(len), len: self.len })?;
        Ok(Region { offset: self.offset + start * self.dtype.bytes() as usize, len, ..self.clone() })
    }

    /// Enqueues a copy of it over a region of another GPU of this process, or of the same device, on a stream of its own device. [Access](Device::enable_peer_access)
    /// to the other one lets it go without the host's memory.
    ///
    /// Nothing is ordered beyond the stream: events say when this region is written, and when the other may be.
    ///
    /// # Errors
    /// Those of [`Region::copy_from`], and [`Error::Capture`] if the stream is captured.
    pub fn copy_to_peer(&self, stream: &Stream, target: &Region) -> Result<()> {
        if self.device() == target.device() {
            return target.copy_from(stream, self);
        }
        if target.bytes() != self.bytes() {
            return Err(Error::Length { source_len: self.bytes(), len: target.bytes() });
        }
        if !target.is_written {
            return Err(target.refused("it was lent to be read"));
        }
        let (Owner::Buffer(to), Owner::Buffer(from)) = (&target.owner, &self.owner) else {
            return Err(self.refused("the memory of one of the two is another owner's, which has to copy it"));
        };
        from.check(stream, || "the source".to_string())?;
        stream.refuse_capture("a copy between devices")?;
        to.copy_unordered(target.offset, from, self.offset, self.bytes(), stream)
    }

    /// Held while it is copied: no replay runs, and no other use of what is captured.
    fn alone(&self) -> Option<Replaying<'static>> {
        self.takes_turns.then(|| self.device().replays().enter())
    }

    fn on_host(&self, stream: &Stream, bytes: usize) -> Result<&Arc<Allocation>> {
        if bytes != self.bytes() {
            return Err(Error::Length { source_len: bytes, len: self.bytes() });
        }
        if stream.raw().is_some() {
            stream.refuse_capture("a copy between device and host")?;
        }
        let Owner::Buffer(allocation) = &self.owner else {
            return Err(self.refused("its memory is another owner's, which has to copy it"));
        };
        allocation.check(stream, || "the buffer".to_string())?;
        Ok(allocation)
    }

    #[cold]
    fn refused(&self, reason: &str) -> Error {
        Error::Foreign { address: self.address(), device: self.device().to_string(), reason: reason.to_string() }
    }
}

impl Stream {
    /// Does work of another library on operands, in the order of their other uses and of this stream. `work` gets the stream and the memory of
    /// each operand; on a GPU it enqueues on [the stream's handle](Stream::as_raw), with addresses, and does not wait. The device's primary context
    /// is current then.
    ///
    /// On a captured stream of a GPU, what `work` enqueues becomes part of the graph. On the CPU and the simulator `work` runs at each replay.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], a fault of earlier work, or those of `work`.
    ///
    /// ```
    /// use triton_runtime::{Device, Operand, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let stream = Device::cpu().stream()?;
    /// let mut x = stream.tensor(&[3u8, 1, 2], [3])?;
    /// let sort = |on: &_, regions: &[triton_runtime::Region]| {
    ///     let mut bytes = vec![0; regions[0].bytes()];
    ///     regions[0].read(on, &mut bytes)?;
    ///     bytes.sort();
    ///     regions[0].write(on, &bytes)
    /// };
    /// stream.external(&[Operand::write(&mut x)?], sort)?;
    /// assert_eq!(stream.download(&x)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn external(
        &self,
        operands: &[Operand<'_>],
        work: impl Fn(&Stream, &[Region]) -> Result<()> + Send + Sync + 'static,
    ) -> Result<()> {
        for (i, operand) in operands.iter().enumerate() {
            if operand.device() != self.device() {
                let (found, expected) = (operand.device().to_string(), self.device().to_string());
                return Err(Error::WrongDevice { what: format!("operand {i}"), found, expected });
            }
        }
        let uses = operands.iter().filter_map(|operand| operand.region.used());
        let ordered = Allocation::order(self, uses)?;
        // On the host the work may wait for another thread's: neither it nor a replay of it keeps others out, but each of its copies.
        let takes_turns = self.raw().is_none() && ordered.is_some();
        let regions: Vec<Region> =
            operands.iter().map(|operand| Region { takes_turns, ..operand.region.clone() }).collect();
        match (self.recorder(), self.raw()) {
            (Some(recorder), None) => {
                recorder.add_step(Step { work: Box::new(move |stream| work(stream, &regions)), is_alone: false })
            }
            (None, None) => {
                drop(ordered);
                work(self, &regions)
            }
            (_, Some(raw)) => {
                raw.context.enter()?;
                work(self, &regions)
            }
        }
    }
}

impl Region {
    /// What it uses of the runtime, and whether it writes it.
    fn used(&self) -> Option<(&Arc<Allocation>, bool)> {
        if let Owner::Buffer(allocation) = &self.owner { Some((allocation, self.is_written)) } else { None }
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operand({:?})", self.region)
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = if self.is_written { "to be written" } else { "to be read" };
        write!(f, "Region({} {} from {:#x} on, {access}, on {})", self.len, self.dtype, self.address(), self.device())
    }
}
