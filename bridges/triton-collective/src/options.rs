//! Options of a communicator.

use std::time::Duration;

/// What a communicator is made with.
///
/// ```
/// use std::time::Duration;
/// use triton_collective::Options;
///
/// let options = Options { timeout: Duration::from_secs(20), ..Options::default() };
/// assert!(!options.checked);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a rank waits for the others, in the meeting and in each collective, before the call is
    /// [`Error::Timeout`](crate::Error::Timeout).
    pub timeout: Duration,
    /// Whether ranks on GPUs compare what they call before each collective, on the host: different calls are then
    /// [`Error::Mismatch`](crate::Error::Mismatch) on every rank, where NCCL would wait for ever. Ranks on the CPU and on the simulator always do.
    pub checked: bool,
    /// The most thread blocks that a collective of NCCL takes of a GPU; `None` leaves it to NCCL. Fewer leave more of the GPU to kernels that run
    /// beside it.
    pub max_blocks: Option<u32>,
}

impl Default for Options {
    /// A time-out of 300 s, unchecked, blocks as NCCL chooses.
    fn default() -> Options {
        Options { timeout: Duration::from_secs(300), checked: false, max_blocks: None }
    }
}
