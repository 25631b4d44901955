//! What keeps replays of a device's graphs apart from uses of captured buffers.
//!
//! **Invariant:** a use of a captured buffer shares this from before it is ordered until it is enqueued, and a replay has it alone for as
//! long. Each device has its own: its buffers and graphs are used on its own streams alone.
//!
//! On the CPU device it also keeps copies of the host, which are not atomic, apart from kernels of a replay.

use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::sync::PoisonError;

/// Of one device.
#[derive(Debug, Default)]
pub(crate) struct Replays(RwLock<()>);

/// Held while uses are ordered and enqueued.
pub(crate) type WithoutReplays<'a> = RwLockReadGuard<'a, ()>;

/// Held while a replay is ordered and enqueued, and while a capture ends.
pub(crate) type Replaying<'a> = RwLockWriteGuard<'a, ()>;

impl Replays {
    /// Waits for a replay that is enqueued at the moment.
    #[cold]
    pub(crate) fn exclude(&self) -> WithoutReplays<'_> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for uses that are enqueued at the moment.
    pub(crate) fn enter(&self) -> Replaying<'_> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
