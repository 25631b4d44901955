//! What carries out the calls of a communicator: the host, or NCCL.

use crate::call::Call;
use crate::error::Result;
use triton::{Operand, Stream};

/// What carries out calls.
pub(crate) trait Backend: Send + Sync {
    /// Enqueues the calls of one group, which are valid, on a stream of the communicator's device. They name the operands by their numbers.
    fn enqueue(&self, stream: &Stream, operands: &[Operand<'_>], calls: Vec<Call>) -> Result<()>;

    /// Waits until everything on the stream is done, with the communicator's time-out.
    fn synchronize(&self, stream: &Stream) -> Result<()>;

    /// The first failure.
    fn check(&self) -> Result<()>;

    /// The communicator is dropped: this rank takes no more part. It is in order unless the thread panics.
    fn leave(&self, in_order: bool);
}
