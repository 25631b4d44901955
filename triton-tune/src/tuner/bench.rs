//! What is measured: the members of a pool with the arguments of a call, or a list of anything.

use crate::error::{BoxError, Failure};
use std::borrow::Cow;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::Instant;
use triton::Stream;
use triton::selection::{Call, Code, Machine, Output};
use triton_select::{Candidates, Known};

/// Candidates that are launched, and what they change.
pub(super) trait Bench {
    fn stream(&self) -> &Stream;
    fn launch(&mut self, index: usize) -> Result<(), BoxError>;
    /// What a launch is estimated to take, in microseconds; `None` if there is no estimate.
    fn estimate(&mut self, index: usize, machine: &Machine) -> Option<Result<f64, BoxError>>;
    /// Loads the code of candidates ahead of their launches, each as soon as a thread is free, until a time. What cannot be loaded fails when it is
    /// launched.
    fn load(&mut self, indices: &[usize], until: Option<Instant>);
    /// Keeps aside what launches change, if that takes at most `most` bytes; `false` if it cannot be kept.
    fn save(&mut self, most: usize) -> bool;
    /// Writes it back.
    fn restore(&mut self) -> Result<(), triton::Error>;
    /// What the last launch has changed; nothing where it is not known.
    fn outputs(&mut self) -> Result<Vec<Output>, triton::Error>;
}

/// The members of a pool.
pub(super) struct OfCall<'b, 'c> {
    call: &'b mut Call<'c>,
    stream: Stream,
}

impl<'b, 'c> OfCall<'b, 'c> {
    pub(super) fn new(call: &'b mut Call<'c>) -> OfCall<'b, 'c> {
        OfCall { stream: call.stream().clone(), call }
    }
}

impl Bench for OfCall<'_, '_> {
    fn stream(&self) -> &Stream {
        &self.stream
    }

    fn launch(&mut self, index: usize) -> Result<(), BoxError> {
        Ok(self.call.launch(index)?)
    }

    fn estimate(&mut self, index: usize, machine: &Machine) -> Option<Result<f64, BoxError>> {
        self.call.estimate(index, machine).map_err(BoxError::from).transpose()
    }

    fn load(&mut self, indices: &[usize], until: Option<Instant>) {
        if self.stream.device().ordinal().is_none() {
            return;
        }
        let codes: Vec<Code> = indices.iter().filter_map(|&index| self.call.code(index).ok().flatten()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(code) = codes.get(next.fetch_add(1, Relaxed)) {
                if until.is_some_and(|until| Instant::now() >= until) {
                    return;
                }
                let _ = code.load();
            }
        };
        let threads = available_parallelism().map_or(1, NonZero::get).min(codes.len());
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
    }

    fn save(&mut self, most: usize) -> bool {
        self.call.saved_bytes().is_some_and(|bytes| bytes <= most) && self.call.save().unwrap_or(false)
    }

    fn restore(&mut self) -> Result<(), triton::Error> {
        self.call.restore()
    }

    fn outputs(&mut self) -> Result<Vec<Output>, triton::Error> {
        self.call.outputs()
    }
}

/// A launch by its number.
pub(super) type Launch<'b> = dyn FnMut(usize, &Stream) -> Result<(), BoxError> + 'b;

/// A list: what its launches change is known to the caller alone.
pub(super) struct OfList<'b> {
    pub(super) stream: &'b Stream,
    pub(super) launch: &'b mut Launch<'b>,
}

impl Bench for OfList<'_> {
    fn stream(&self) -> &Stream {
        self.stream
    }

    fn launch(&mut self, index: usize) -> Result<(), BoxError> {
        (self.launch)(index, self.stream)
    }

    fn estimate(&mut self, _: usize, _: &Machine) -> Option<Result<f64, BoxError>> {
        None
    }

    fn load(&mut self, _: &[usize], _: Option<Instant>) {}

    fn save(&mut self, _: usize) -> bool {
        true
    }

    fn restore(&mut self) -> Result<(), triton::Error> {
        Ok(())
    }

    fn outputs(&mut self) -> Result<Vec<Output>, triton::Error> {
        Ok(Vec::new())
    }
}

/// Candidates as they are for one call, apart from the call.
pub(super) struct Snapshot {
    known: Arc<Known>,
    id: u64,
    fits: Vec<bool>,
}

impl Snapshot {
    pub(super) fn of(known: Arc<Known>, candidates: &dyn Candidates) -> Snapshot {
        let fits = (0..candidates.len()).map(|index| candidates.fits(index)).collect();
        Snapshot { known, id: candidates.id(), fits }
    }
}

impl Candidates for Snapshot {
    fn op(&self) -> Cow<'_, str> {
        self.known.op().into()
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn len(&self) -> usize {
        self.fits.len()
    }

    fn name(&self, index: usize) -> Cow<'_, str> {
        self.known.names().get(index).map_or("", String::as_str).into()
    }

    fn fingerprint(&self, index: usize) -> u64 {
        self.known.fingerprint_of(index)
    }

    fn fits(&self, index: usize) -> bool {
        self.fits.get(index) == Some(&true)
    }
}

/// The failure of a device's call.
pub(super) fn failure(error: triton::Error) -> Failure {
    Failure::Launch(error.into())
}
