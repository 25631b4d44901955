//! The error type: what was found, what was expected, and how to fix it.

use crate::reduce::Reduce;
use std::time::Duration;
use triton::DType;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why ranks do not meet, or a collective fails.
///
/// Errors of the arguments ([`Length`](Error::Length), [`Type`](Error::Type), [`Peer`](Error::Peer), [`Device`](Error::Device), and
/// [`Runtime`](Error::Runtime) of a view with gaps) are found before anything is enqueued, and the communicator is as good as before. All others are
/// the end of the communicator: each later call is [`Aborted`](Error::Aborted), with the first one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank that does not fit its world, or the one that the others are in.
    #[error("rank {rank} of a world of {world}: {reason}")]
    #[non_exhaustive]
    World {
        /// The rank.
        rank: usize,
        /// The world size that it was given.
        world: usize,
        /// What is wrong with them, and how to fix it.
        reason: String,
    },

    /// Operands whose lengths do not belong together.
    #[error("{operation}: {operand} has {found} elements, but {expected} are expected: {reason}")]
    #[non_exhaustive]
    Length {
        /// The collective.
        operation: &'static str,
        /// Which operand.
        operand: &'static str,
        /// Its elements.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// Why, in words.
        reason: String,
    },

    /// A reduction that is not defined for the element type.
    #[error("{reduce} of {dtype} is not defined: {}", defined(*.dtype))]
    #[non_exhaustive]
    Type {
        /// The element type.
        dtype: DType,
        /// The reduction.
        reduce: Reduce,
    },

    /// A peer or root that the world does not have, or a send to the own rank that nothing receives.
    #[error("{}", peer(*.found, *.world))]
    #[non_exhaustive]
    Peer {
        /// The rank that was named.
        found: usize,
        /// The world size.
        world: usize,
    },

    /// An operand or a stream of another device than the communicator's.
    #[error("{what} is on {found}, but the communicator is of {expected}; make it on that device")]
    #[non_exhaustive]
    Device {
        /// Which thing, in words.
        what: &'static str,
        /// The device it is on.
        found: String,
        /// The communicator's device.
        expected: String,
    },

    /// Ranks called different things: each of them has this error.
    #[error(
        "rank {rank} called {found}, but this rank called {expected}; all ranks of a communicator call the same collectives in the same order, \
         with the same counts and types"
    )]
    #[non_exhaustive]
    Mismatch {
        /// The first rank whose call differs from this one's.
        rank: usize,
        /// Its call.
        found: String,
        /// The call of this rank.
        expected: String,
    },

    /// Ranks did not come in time.
    #[error(
        "{operation}: after {seconds} s {}; see whether they still run and call the same, or raise `Options::timeout`",
        absent(.missing)
    )]
    #[non_exhaustive]
    Timeout {
        /// What was waited for.
        operation: String,
        /// The time-out.
        seconds: f64,
        /// The ranks that did not come; empty if they are not known.
        missing: Vec<usize>,
    },

    /// A rank ended, or its connection did, before it took part.
    #[error("rank {rank} has ended: its process or thread failed, or dropped its communicator; its own error says why")]
    #[non_exhaustive]
    Gone {
        /// The rank.
        rank: usize,
    },

    /// An environment variable that is missing or malformed.
    #[error("{variable} {}: expected {expected}; torchrun, srun or mpirun sets it for each rank", set(.found))]
    #[non_exhaustive]
    Environment {
        /// Its name.
        variable: String,
        /// Its value; `None` if it is not set.
        found: Option<String>,
        /// What it should be.
        expected: &'static str,
    },

    /// Ranks cannot meet at an address or by a file.
    #[error("ranks cannot meet at {address}: {reason}")]
    #[non_exhaustive]
    Meeting {
        /// The address, or the path of the file.
        address: String,
        /// Why not.
        reason: String,
    },

    /// NCCL is not on this machine, or it cannot be used.
    #[error("no NCCL: {reason}; install it (`libnccl.so.2`), or use devices of the CPU")]
    #[non_exhaustive]
    NoLibrary {
        /// Why, as the end of a sentence.
        reason: String,
    },

    /// A call of NCCL failed.
    #[error("{call} of NCCL failed with code {code}: {message}")]
    #[non_exhaustive]
    Nccl {
        /// The function.
        call: &'static str,
        /// What it returned.
        code: i32,
        /// What NCCL says of it.
        message: String,
    },

    /// A gradient that is not as a call needs it: see [`Gradients`](crate::Gradients).
    #[error("gradient {index}: {reason}")]
    #[non_exhaustive]
    Gradient {
        /// Its number.
        index: usize,
        /// What is wrong, and how to fix it.
        reason: String,
    },

    /// The operating system has no thread for what watches over the collectives.
    #[error("a thread cannot be started: {reason}")]
    #[non_exhaustive]
    Thread {
        /// What the operating system says.
        reason: String,
    },

    /// The communicator failed before, and is of no more use.
    #[error("the communicator failed before: {first}; make a new one on all ranks")]
    #[non_exhaustive]
    Aborted {
        /// The first failure.
        first: Box<Error>,
    },

    /// An error of the runtime.
    #[error(transparent)]
    Runtime(triton::Error),
}

impl Error {
    /// Of an operation whose missing ranks are not known.
    pub(crate) fn timeout(operation: &str, timeout: Duration) -> Error {
        Error::Timeout { operation: operation.to_string(), seconds: timeout.as_secs_f64(), missing: Vec::new() }
    }
}

impl From<triton::Error> for Error {
    /// An error of this crate that went through the runtime, as in a capture, is itself again.
    fn from(error: triton::Error) -> Error {
        if let triton::Error::Other(other) = &error
            && let Some(ours) = other.downcast_ref::<Error>()
        {
            return ours.clone();
        }
        Error::Runtime(error)
    }
}

impl From<Error> for triton::Error {
    /// For closures that return the runtime's error, as [`Stream::capture`](triton::Stream::capture) takes.
    fn from(error: Error) -> triton::Error {
        if let Error::Runtime(error) = error { error } else { triton::Error::other(error) }
    }
}

/// Which reductions an element type has.
fn defined(dtype: DType) -> String {
    let all = Reduce::ALL.iter().filter(|reduce| reduce.is_defined(dtype)).map(|reduce| format!("`{reduce:?}`"));
    format!("of {dtype} there is {}", all.collect::<Vec<_>>().join(", "))
}

fn peer(found: usize, world: usize) -> String {
    if found < world {
        return format!(
            "rank {found} sends to itself and receives from itself a different number of times; both go into one group"
        );
    }
    format!("there is no rank {found}: the world has {world}, numbered from 0")
}

fn absent(missing: &[usize]) -> String {
    match missing {
        [] => "not all ranks have come".to_string(),
        [one] => format!("rank {one} has not come"),
        several => format!("the ranks {several:?} have not come"),
    }
}

fn set(found: &Option<String>) -> String {
    found.as_ref().map_or_else(|| "is not set".to_string(), |found| format!("is `{found}`"))
}
