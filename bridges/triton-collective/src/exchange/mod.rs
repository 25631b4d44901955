//! How ranks pass bytes to each other: in one process by memory, among processes by TCP.
//!
//! A [`Hub`](hub::Hub) knows what each rank has brought, and delivers what follows from it to all of them in one order. Each rank has a
//! [`Mailbox`](mailbox::Mailbox) in which it waits. Ranks of the hub's process call it, the others by a connection.

mod hub;
mod lobby;
mod mailbox;
mod member;
mod tcp;

pub(crate) use lobby::{meet_by_id, together};
pub(crate) use tcp::{meet_at, meet_by_file};

use crate::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What one rank sees of the others.
///
/// A call that fails leaves the world as it is for ranks that have what they need; all others fail, too.
pub(crate) trait Exchange: Send + Sync {
    /// The bytes of all ranks, in their order. Each rank calls it the same number of times.
    fn all_gather(&self, bytes: Vec<u8>, deadline: Instant) -> Result<Vec<Arc<[u8]>>, Failure>;

    /// Sends bytes. They are buffered: it does not wait for the receiver, and a rank may send to itself.
    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), Failure>;

    /// The next bytes that a rank sent to this one.
    fn receive(&self, from: usize, deadline: Instant) -> Result<Arc<[u8]>, Failure>;

    /// The first rank that failed: its process or thread ended before it left.
    fn gone(&self) -> Option<usize>;

    /// Tells the others that this rank takes no more part. What it has sent still reaches them, and calls that do not need it go on. If it does not leave
    /// in order, as when its thread panics, each rank that waits or comes later fails.
    fn leave(&self, in_order: bool);
}

/// Why an exchange failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// These ranks did not come in time.
    Timeout { missing: Vec<usize> },
    /// A rank that is needed has ended.
    Gone { rank: usize },
    /// Bytes that cannot be sent.
    Refused { reason: String },
}

impl Failure {
    /// As the error of an operation with a time-out.
    pub(crate) fn of(self, operation: &str, timeout: Duration) -> Error {
        match self {
            Failure::Timeout { missing } => {
                Error::Timeout { operation: operation.to_string(), seconds: timeout.as_secs_f64(), missing }
            }
            Failure::Gone { rank } => Error::Gone { rank },
            Failure::Refused { reason } => Error::Meeting { address: "rank 0".to_string(), reason },
        }
    }
}

/// When a time-out that begins now ends.
pub(crate) fn deadline(timeout: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or(now + FAR)
}

/// How long it is until then.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Locks without caring whether another thread panicked meanwhile: what is guarded is consistent between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
