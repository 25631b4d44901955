//! Memory orders of strong accesses, and fences.

use super::Scope;

/// The memory order of a strong access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// `.relaxed`, `.volatile`
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcqRel,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Threads that it orders accesses with.
    pub scope: Scope,
    /// Which sides it has: `Acquire`, `Release`, or `AcqRel` for both.
    pub ordering: Ordering,
    /// `.sync_restrict`: it acquires what was done to shared memory, and releases what was done to that of the own block.
    pub restricted: bool,
}

impl Ordering {
    pub(super) fn acquires(self) -> bool {
        match self {
            Ordering::Acquire | Ordering::AcqRel => true,
            Ordering::Relaxed | Ordering::Release => false,
        }
    }

    pub(super) fn releases(self) -> bool {
        match self {
            Ordering::Release | Ordering::AcqRel => true,
            Ordering::Relaxed | Ordering::Acquire => false,
        }
    }
}
