//! What a captured stream is told: the memory that its work uses and, where the device is the host, the work itself.
//!
//! Generic over the stream, which owns its recorder.

use crate::error::{Error, Result};
use crate::lock;
use std::sync::{Arc, Mutex};

/// Memory whose uses are ordered.
pub(crate) trait Resource<S>: Send + Sync {
    /// Orders a read, or a write, that is about to be enqueued.
    ///
    /// # Errors
    /// What the device says.
    fn order(&self, stream: &S, writes: bool) -> Result<()>;
}

/// A use of the work of a graph: the memory, which it keeps alive, and whether it is written.
pub(crate) type Use<S> = (Arc<dyn Resource<S>>, bool);

/// Work on a stream.
pub(crate) type Work<S> = dyn Fn(&S) -> Result<()> + Send + Sync;

/// Work of a graph on a device that does it in the call: done again, on the stream of the replay.
pub(crate) struct Step<S> {
    pub(crate) work: Box<Work<S>>,
    /// Whether other work of the device waits meanwhile. What is not ours may itself wait for another thread's replay.
    pub(crate) is_alone: bool,
}

impl<S> Step<S> {
    /// Work of ours, which waits for nothing.
    pub(crate) fn alone(work: impl Fn(&S) -> Result<()> + Send + Sync + 'static) -> Step<S> {
        Step { work: Box::new(work), is_alone: true }
    }
}

/// What was captured.
pub(crate) struct Recording<S> {
    /// Each memory once.
    pub(crate) uses: Vec<Use<S>>,
    pub(crate) steps: Vec<Step<S>>,
}

/// Takes down what is captured, until it ends.
pub(crate) struct Recorder<S> {
    home: S,
    recording: Mutex<Option<Recording<S>>>,
}

impl<S> Recorder<S> {
    /// Nothing yet. `home` is the stream that the capture was asked of.
    pub(crate) fn new(home: S) -> Recorder<S> {
        Recorder { home, recording: Mutex::new(Some(Recording { uses: Vec::new(), steps: Vec::new() })) }
    }

    /// The stream that the capture was asked of, which is not captured.
    pub(crate) fn home(&self) -> &S {
        &self.home
    }

    /// Adds a use.
    ///
    /// # Errors
    /// [`Error::CaptureEnded`].
    pub(crate) fn add_use(&self, memory: Arc<dyn Resource<S>>, writes: bool) -> Result<()> {
        self.with(|recording| {
            let same = |other: &&mut Use<S>| std::ptr::addr_eq(Arc::as_ptr(&other.0), Arc::as_ptr(&memory));
            match recording.uses.iter_mut().find(same) {
                Some((_, written)) => *written |= writes,
                None => recording.uses.push((memory, writes)),
            }
        })
    }

    /// Adds work.
    ///
    /// # Errors
    /// [`Error::CaptureEnded`].
    pub(crate) fn add_step(&self, step: Step<S>) -> Result<()> {
        self.with(|recording| recording.steps.push(step))
    }

    /// Ends it.
    ///
    /// # Errors
    /// [`Error::CaptureEnded`] if it has.
    pub(crate) fn end(&self) -> Result<Recording<S>> {
        lock(&self.recording).take().ok_or(Error::CaptureEnded)
    }

    fn with(&self, add: impl FnOnce(&mut Recording<S>)) -> Result<()> {
        lock(&self.recording).as_mut().map(add).ok_or(Error::CaptureEnded)
    }
}
