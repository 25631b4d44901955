//! Programs of a grid shared among threads, so that the reported failure is that of a sequential run.
//!
//! **Invariant:** every program below the lowest failing one runs, and each program at most once.
//!
//! `models` checks this under every interleaving, with the primitives of loom in place of [`sync`](super::sync)'s.

use crate::sync::{AtomicU64, Mutex, Ordering::Relaxed};
use std::sync::PoisonError;

/// The programs that are still to run, and the failure with the lowest index so far.
pub(crate) struct Share<E> {
    total: u64,
    chunk: u64,
    next: AtomicU64,
    lowest: AtomicU64,
    failure: Mutex<Option<E>>,
}

impl<E> Share<E> {
    /// The programs from `first` to before `total`, handed out by `chunk`.
    pub(crate) fn new(first: u64, total: u64, chunk: u64) -> Share<E> {
        Share { total, chunk, next: AtomicU64::new(first), lowest: AtomicU64::new(u64::MAX), failure: Mutex::new(None) }
    }

    /// What each thread does: runs programs until none is left that matters.
    pub(crate) fn work(&self, one: impl Fn(u64) -> Result<(), E>) {
        loop {
            // Chunks are handed out in order, so that every program below a failing one is run.
            let start = self.next.fetch_add(self.chunk, Relaxed);
            if start >= self.total || start > self.lowest.load(Relaxed) {
                return;
            }
            for index in start..self.total.min(start + self.chunk) {
                if let Err(error) = one(index) {
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    // Changed under the lock alone; read outside it, a stale value only runs a program in vain.
                    if index < self.lowest.load(Relaxed) {
                        self.lowest.store(index, Relaxed);
                        *failure = Some(error);
                    }
                    break;
                }
            }
        }
    }

    /// The failure of the program with the lowest index, once all threads are done.
    pub(crate) fn finish(self) -> Result<(), E> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)
    }
}
