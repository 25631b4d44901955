//! Passing parts of an array among ranks beside other work.

use crate::communicator::Communicator;
use crate::copies::Copies;
use crate::error::{Error, Result};
use std::sync::Arc;
use triton::{DType, Element, IntoView, IntoViewMut, Operand, Stream};

/// Memory that the other ranks copy to while this rank does other work, made by [`Communicator::passage`].
///
/// GPUs copy by their copy engines, which leaves the multiprocessors to kernels. What is sent between two ranks is received in the order of the sends.
/// One that is dropped before it is finished is the end of the communicator, for all ranks.
#[must_use = "the stream does not wait for what was sent until `finish`"]
pub struct Passage<'c> {
    communicator: &'c Communicator,
    /// Of GPUs.
    copies: Option<Arc<Copies>>,
    len: usize,
    dtype: DType,
    is_finished: bool,
}

impl Communicator {
    /// Whether ranks of a world of several have a [`passage`](Communicator::passage) on a stream: those on the CPU and the simulator, and GPUs of one process that can access each
    /// other's memory, for which [`all`](Communicator::all) has made the communicators, unless the stream is captured. A GPU has one at a time.
    pub fn has_passage(&self, stream: &Stream) -> bool {
        let is_gpu = self.device().ordinal().is_some();
        self.world() > 1 && (!is_gpu || self.copies().is_some_and(|copies| !copies.is_open()) && !stream.is_captured())
    }

    /// Opens memory for the other ranks to copy to, which all ranks do at the same time, with memory of as many elements. `None` where there is no
    /// [passage](Communicator::has_passage).
    ///
    /// The memory is the passage's until [`finish`](Passage::finish): elements have the values that a peer sent once they are
    /// [received](Passage::receive), and what of them is sent or written meanwhile is this rank's to keep apart.
    ///
    /// ```
    /// use triton_collective::{Result, on_all};
    /// use triton::Device;
    ///
    /// # fn main() -> Result<()> {
    /// let all = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> Result<Vec<i32>> {
    ///     let (stream, rank) = (communicator.device().stream()?, communicator.rank());
    ///     let mut y = stream.tensor(&[rank as i32; 2], [2])?;
    ///     let Some(mut passage) = communicator.passage(&stream, &mut y)? else { return Ok(Vec::new()) };
    ///     passage.send(&stream, y.narrow(0, rank..rank + 1)?, 1 - rank, rank)?;
    ///     passage.receive(&stream, y.narrow_mut(0, 1 - rank..2 - rank)?, 1 - rank, 1 - rank)?;
    ///     passage.finish(&stream)?;
    ///     Ok(stream.download(&y)?)
    /// })?;
    /// assert_eq!(all, [[0, 1], [0, 1]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Runtime`] of a view with gaps, or a failure of the communicator.
    pub fn passage<'a, T: Element, const R: usize>(
        &self,
        stream: &Stream,
        memory: impl IntoViewMut<'a, T, R>,
    ) -> Result<Option<Passage<'_>>> {
        if !self.has_passage(stream) {
            return Ok(None);
        }
        self.check()?;
        let memory = self.operand("the memory of a passage", Operand::write(memory)?)?;
        let copies = self.copies().cloned();
        if let Some(copies) = &copies {
            copies.open(stream, &memory)?;
        }
        let (len, dtype) = (memory.len(), memory.dtype());
        Ok(Some(Passage { communicator: self, copies, len, dtype, is_finished: false }))
    }

    fn operand<'a>(&self, what: &'static str, operand: Operand<'a>) -> Result<Operand<'a>> {
        if operand.device() == self.device() {
            return Ok(operand);
        }
        let (found, expected) = (operand.device().to_string(), self.device().to_string());
        Err(Error::Device { what, found, expected })
    }
}

impl Passage<'_> {
    /// Sends x to a peer, to the elements from `start` on of the memory that it has opened. On a GPU the stream goes on while it is copied: x is not
    /// to be written until [`finish`](Passage::finish), except by what follows from its arrival.
    ///
    /// # Errors
    /// [`Error::Peer`], [`Error::Length`] of what the peer's memory has no room for, [`Error::Mismatch`] of another type, and those of a
    /// [`send`](Communicator::send).
    pub fn send<'a, T: Element, const R: usize>(
        &mut self,
        stream: &Stream,
        x: impl IntoView<'a, T, R>,
        peer: usize,
        start: usize,
    ) -> Result<()> {
        let x = x.into_view();
        let operand = self.communicator.operand("x", Operand::read(x)?)?;
        self.fits(&operand, peer, start)?;
        match &self.copies {
            Some(copies) => copies.send(stream, &operand, peer, start),
            None => self.communicator.send(stream, x, peer),
        }
    }

    /// Waits, on a GPU as what the stream does next, for the next that a peer sends, which is to x: the elements from `start` on of the own memory.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the peer sent to other elements, and those of a [`receive`](Communicator::receive).
    pub fn receive<'a, T: Element, const R: usize>(
        &mut self,
        stream: &Stream,
        x: impl IntoViewMut<'a, T, R>,
        peer: usize,
        start: usize,
    ) -> Result<()> {
        let mut x = x.into_view_mut();
        let operand = self.communicator.operand("x", Operand::write(x.reborrow())?)?;
        self.fits(&operand, peer, start)?;
        match &self.copies {
            Some(copies) => copies.receive(stream, &operand, peer, start),
            None => self.communicator.receive(stream, x, peer),
        }
    }

    /// The stream waits until all that was sent has been copied. Every send of the peers was received.
    ///
    /// # Errors
    /// [`Error::Timeout`] or [`Error::Gone`] of a peer that did not open its memory.
    pub fn finish(mut self, stream: &Stream) -> Result<()> {
        if let Some(copies) = &self.copies {
            copies.close(stream)?;
        }
        self.is_finished = true;
        Ok(())
    }

    /// Refuses what is not within the memory of a peer.
    fn fits(&self, x: &Operand<'_>, peer: usize, start: usize) -> Result<()> {
        let (rank, world) = (self.communicator.rank(), self.communicator.world());
        if peer >= world || peer == rank {
            return Err(Error::Peer { found: peer, world });
        }
        if x.dtype() != self.dtype {
            let of = |dtype: DType| format!("a passage of {dtype}");
            return Err(Error::Mismatch { rank, found: of(x.dtype()), expected: of(self.dtype) });
        }
        let expected = self.len.saturating_sub(start);
        if x.len() > expected {
            let reason = format!("from element {start} of {} on there are no more", self.len);
            return Err(Error::Length { operation: "a passage", operand: "x", found: x.len(), expected, reason });
        }
        Ok(())
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        if let Some(copies) = &self.copies {
            copies.abandon();
        }
        // The others wait for what this rank did not send.
        self.communicator.fail();
    }
}
