//! The order of a buffer's uses on several streams.
//!
//! **Invariant:** a read comes after the last write, a write after the last write and all reads since, a free after
//! everything, whichever streams they are on. The order between two streams is made when the second comes: an event is
//! recorded on the first and the second waits for it.
//!
//! A use is ordered first and enqueued next. Uses that conflict do not overlap on the host, since a write borrows the buffer
//! exclusively; reads overlap each other only, and none of them waits for another.
//!
//! Generic over the stream, so that `models` can check this under every interleaving.

/// A queue of work.
pub(crate) trait OrderedStream: Clone {
    /// The error of ordering.
    type Error;

    /// Whether both are the same queue.
    fn is(&self, other: &Self) -> bool;

    /// Makes work that is enqueued from now on wait for what is enqueued on another queue so far.
    ///
    /// # Errors
    /// What the device says.
    fn wait_for(&self, other: &Self) -> Result<(), Self::Error>;
}

/// The last uses of a buffer. Callers guard it by one lock.
#[derive(Debug)]
pub(crate) struct StreamUses<S> {
    /// The stream of the last write; the allocation counts as one.
    writer: S,
    /// Other streams that read since. Each of them waits for the writer.
    readers: Vec<S>,
}

impl<S: OrderedStream> StreamUses<S> {
    /// The uses of a buffer that was allocated on this stream.
    pub(crate) fn new(stream: S) -> StreamUses<S> {
        StreamUses { writer: stream, readers: Vec::new() }
    }

    /// Orders a read that is about to be enqueued.
    #[inline]
    pub(crate) fn read(&mut self, stream: &S) -> Result<(), S::Error> {
        if self.writer.is(stream) || self.readers.iter().any(|r| r.is(stream)) {
            return Ok(());
        }
        stream.wait_for(&self.writer)?;
        self.readers.push(stream.clone());
        Ok(())
    }

    /// Orders a write that is about to be enqueued.
    #[inline]
    pub(crate) fn write(&mut self, stream: &S) -> Result<(), S::Error> {
        if self.writer.is(stream) && self.readers.is_empty() {
            return Ok(());
        }
        for other in std::iter::once(&self.writer).chain(&self.readers) {
            if !other.is(stream) {
                stream.wait_for(other)?;
            }
        }
        self.readers.clear();
        if !self.writer.is(stream) {
            self.writer = stream.clone();
        }
        Ok(())
    }

    /// The stream of the last write.
    pub(crate) fn writer(&self) -> &S {
        &self.writer
    }

    /// Other streams that read since the last write.
    pub(crate) fn readers(&self) -> &[S] {
        &self.readers
    }
}
