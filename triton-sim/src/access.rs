//! Whether memory is read or written: a word that the machine, the checks and the faults share.

/// Whether memory is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written at once, by an atomic operation.
    Atomic,
}

impl AccessKind {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        match self {
            AccessKind::Read => false,
            AccessKind::Write | AccessKind::Atomic => true,
        }
    }
}
