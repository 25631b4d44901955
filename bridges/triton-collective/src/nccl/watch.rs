//! A thread that sees to it that collectives end: when a rank has ended, or the time is out, it aborts the communicator, so that a thread that
//! waits for the stream goes on.

use crate::error::{Error, Result};
use crate::exchange::Exchange;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use triton::Event;

/// How often pending work is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long work may be pending after another rank has ended: what that one has done arrives sooner.
const GRACE: Duration = Duration::from_secs(1);

/// What is watched: it can be told that it failed.
pub(super) trait Watched: Send + Sync + 'static {
    /// Ends what is pending, with an error for all later calls.
    fn fail(&self, error: Error);
}

/// The thread of a communicator. Dropping ends it.
pub(super) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    /// Work by the order in which it was enqueued: its end, when that was, and what it is.
    work: VecDeque<(Event, Instant, &'static str)>,
    has_ended: bool,
}

impl Watch {
    /// Watches a communicator whose ranks are known by an exchange, if there is one.
    pub(super) fn new(of: Arc<impl Watched>, exchange: Option<Arc<dyn Exchange>>, timeout: Duration) -> Result<Watch> {
        let shared = Arc::new(Shared { pending: Mutex::default(), changed: Condvar::new() });
        let watcher = Watcher { shared: shared.clone(), exchange, timeout };
        let thread = std::thread::Builder::new().name("triton-collective".to_string());
        let thread = thread.spawn(move || watcher.run(&*of));
        let thread = thread.map_err(|error| Error::Thread { reason: error.to_string() })?;
        Ok(Watch { shared, thread: Some(thread) })
    }

    /// Adds work, which ends at an event.
    pub(super) fn push(&self, end: Event, operation: &'static str) {
        self.shared.lock().work.push_back((end, Instant::now(), operation));
        self.shared.changed.notify_one();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.lock().has_ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It does not panic, and there is nothing to do if it did.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Watcher {
    shared: Arc<Shared>,
    exchange: Option<Arc<dyn Exchange>>,
    timeout: Duration,
}

impl Watcher {
    fn run(self, of: &dyn Watched) {
        let mut gone_since = None;
        let mut pending = self.shared.lock();
        while !pending.has_ended {
            if pending.work.is_empty() {
                pending = self.shared.changed.wait(pending).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            // An error here is the device's, which the next use of the stream gets.
            while pending.work.front().is_some_and(|(end, ..)| end.is_done().unwrap_or(true)) {
                pending.work.pop_front();
            }
            if let Some(&(_, since, operation)) = pending.work.front()
                && let Some(error) = self.failure(since, operation, &mut gone_since)
            {
                pending.work.clear();
                drop(pending);
                return of.fail(error);
            }
            let waited = self.shared.changed.wait_timeout(pending, INTERVAL).unwrap_or_else(PoisonError::into_inner);
            pending = waited.0;
        }
    }

    /// Why work that has been pending for some time will not end.
    fn failure(&self, since: Instant, operation: &'static str, gone: &mut Option<(usize, Instant)>) -> Option<Error> {
        if let Some(rank) = self.exchange.as_ref().and_then(|exchange| exchange.gone()) {
            let (rank, noticed) = *gone.get_or_insert((rank, Instant::now()));
            if noticed.elapsed() > GRACE {
                return Some(Error::Gone { rank });
            }
        }
        (since.elapsed() > self.timeout).then(|| Error::timeout(operation, self.timeout))
    }
}
