//! The order of a buffer's uses on several streams.
//!
//! **Invariant:** a read comes after the last write, a write after the last write and all reads since, a free after
//! everything, whichever streams they are on. The order between two streams is made when the second comes: an event is
//! recorded on the first and the second waits for it.
//!
//! A use is ordered first and enqueued next. Uses that conflict do not overlap on the host, since a write borrows the buffer
//! exclusively; reads overlap each other only, and none of them waits for another.
//!
//! A replay of a graph borrows nothing. Once a buffer is [captured](StreamUses::capture), its uses exclude replays from before they are
//! ordered until they are enqueued, by a lock of the caller: uses share it, and a replay has it alone.
//!
//! A program's uses are on one stream for the most part, and there nothing has to be done. This is seen without the lock: a
//! launch would take it once for each of its buffers.
//!
//! Generic over the stream, so that `models` can check this under every interleaving.

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering::Relaxed};
use std::sync::PoisonError;

/// A queue of work.
pub(crate) trait OrderedStream: Clone {
    /// The error of ordering.
    type Error;

    /// A number that no other queue has while a clone of this one lives.
    fn key(&self) -> usize;

    /// Makes work that is enqueued from now on wait for what is enqueued on another queue so far.
    ///
    /// # Errors
    /// What the device says.
    fn wait_for(&self, other: &Self) -> Result<(), Self::Error>;
}

/// The last uses of a buffer.
///
/// Both atomics change within a write, or tell a later write about a read. No other use overlaps a write on the host, and what lets
/// the buffer be borrowed anew makes the earlier borrower's stores visible: they need no order of their own.
#[derive(Debug)]
pub(crate) struct StreamUses<S> {
    /// The key of `uses.writer`, which keeps it from being another stream's.
    writer: AtomicUsize,
    /// Whether there are `uses.readers`.
    has_readers: AtomicBool,
    /// Whether a graph uses the buffer, or has used it. It is set under a borrow, so that a later use that conflicts sees it.
    captured: AtomicBool,
    uses: Mutex<Uses<S>>,
}

#[derive(Debug)]
struct Uses<S> {
    /// The stream of the last write; the allocation counts as one. `None` while the buffer [rests](StreamUses::rest).
    writer: Option<S>,
    /// Other streams that read since. Each of them waits for the writer.
    readers: Vec<S>,
}

impl<S: OrderedStream> StreamUses<S> {
    /// The uses of a buffer that was allocated on this stream.
    pub(crate) fn new(stream: S) -> StreamUses<S> {
        StreamUses {
            writer: AtomicUsize::new(stream.key()),
            has_readers: AtomicBool::new(false),
            captured: AtomicBool::new(false),
            uses: Mutex::new(Uses { writer: Some(stream), readers: Vec::new() }),
        }
    }

    /// A graph uses the buffer from now on.
    pub(crate) fn capture(&self) {
        self.captured.store(true, Relaxed);
    }

    /// Whether uses have to exclude replays.
    #[inline]
    pub(crate) fn is_captured(&self) -> bool {
        self.captured.load(Relaxed)
    }

    /// Whether a use of a stream is in order as it is: what it has to come after is on the same one.
    #[inline]
    pub(crate) fn is_in_order(&self, stream: &S, writes: bool) -> bool {
        self.writer.load(Relaxed) == stream.key() && !(writes && self.has_readers.load(Relaxed))
    }

    /// Orders a read that is about to be enqueued.
    #[inline]
    pub(crate) fn read(&self, stream: &S) -> Result<(), S::Error> {
        if self.is_in_order(stream, false) { Ok(()) } else { self.read_elsewhere(stream) }
    }

    /// Orders a write that is about to be enqueued.
    #[inline]
    pub(crate) fn write(&self, stream: &S) -> Result<(), S::Error> {
        if self.is_in_order(stream, true) { Ok(()) } else { self.write_after_others(stream) }
    }

    /// A read on another stream than the writer's.
    #[cold]
    fn read_elsewhere(&self, stream: &S) -> Result<(), S::Error> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if uses.readers.iter().any(|reader| reader.key() == stream.key()) {
            return Ok(());
        }
        uses.writer.iter().try_for_each(|writer| stream.wait_for(writer))?;
        uses.readers.push(stream.clone());
        self.has_readers.store(true, Relaxed);
        Ok(())
    }

    /// A write after uses on other streams.
    #[cold]
    fn write_after_others(&self, stream: &S) -> Result<(), S::Error> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for other in uses.writer.iter().chain(&uses.readers) {
            if other.key() != stream.key() {
                stream.wait_for(other)?;
            }
        }
        uses.readers.clear();
        self.has_readers.store(false, Relaxed);
        if uses.writer.as_ref().is_none_or(|writer| writer.key() != stream.key()) {
            // The key first: the old writer may go, and its key become another stream's.
            self.writer.store(stream.key(), Relaxed);
            uses.writer = Some(stream.clone());
        }
        Ok(())
    }

    /// Orders a write that another queue enqueues by `work`, such as one of another device: after all uses, and before those that follow. The
    /// buffer's own queue has it in its order, so that the buffer names no other.
    pub(crate) fn write_by(&self, other: &S, work: impl FnOnce() -> Result<(), S::Error>) -> Result<(), S::Error> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.writer.iter().chain(&uses.readers).try_for_each(|earlier| other.wait_for(earlier))?;
        work()?;
        uses.writer.iter().try_for_each(|writer| writer.wait_for(other))?;
        uses.readers.clear();
        self.has_readers.store(false, Relaxed);
        Ok(())
    }

    /// Orders a read that another queue enqueues by `work`, as [`write_by`](StreamUses::write_by) does a write: after the last write, and before what the writer's
    /// queue does next.
    pub(crate) fn read_by(&self, other: &S, work: impl FnOnce() -> Result<(), S::Error>) -> Result<(), S::Error> {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.writer.iter().try_for_each(|writer| other.wait_for(writer))?;
        work()?;
        uses.writer.iter().try_for_each(|writer| writer.wait_for(other))
    }

    /// Forgets the stream, which has all uses in its order and keeps the buffer itself: else each would keep the other alive. Nothing uses a
    /// buffer that rests.
    pub(crate) fn rest(&self) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.readers.clear();
        self.has_readers.store(false, Relaxed);
        let writer = uses.writer.take();
        drop(uses);
        drop(writer);
    }

    /// The uses of a buffer that has rested, as if it was allocated on this stream.
    pub(crate) fn wake(&self, stream: S) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        self.writer.store(stream.key(), Relaxed);
        self.captured.store(false, Relaxed);
        uses.writer = Some(stream);
    }

    /// The stream of the last write, and the other streams that read since.
    pub(crate) fn last(&self) -> (Option<S>, Vec<S>) {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        (uses.writer.clone(), uses.readers.clone())
    }
}
