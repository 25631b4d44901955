//! What a launch is counted by.

/// Counts of one launch. A request is one instruction of one warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Warp instructions that ran.
    pub instructions: u64,
    /// Of these by class: arithmetic, conversions and moves.
    pub arithmetic: u64,
    /// Branches, barriers and other control.
    pub control: u64,
    /// Accesses to memory.
    pub memory: u64,
    /// Matrix instructions (`mma.sync`, one warp's share of a `wgmma`).
    pub matrix: u64,
    /// Multiplications and additions of matrix instructions: 2 for each product.
    pub matrix_operations: u64,
    /// Requests to global memory, and the 32-byte sectors that they touch.
    pub global_requests: u64,
    /// See [`Statistics::global_requests`].
    pub global_sectors: u64,
    /// Requests to shared memory, and how often one has to be repeated because two words lie in one bank.
    pub shared_requests: u64,
    /// See [`Statistics::shared_requests`].
    pub bank_conflicts: u64,
    /// Bytes read from global memory.
    pub global_read: u64,
    /// Bytes written to global memory.
    pub global_written: u64,
    /// Bytes moved by asynchronous copies.
    pub copied: u64,
}
