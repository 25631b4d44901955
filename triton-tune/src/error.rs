//! The error types: what was found, what was expected, and how to fix it.

use std::path::PathBuf;
use triton_select::TableError;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a launch.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why nothing could be chosen, or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `TRITON_DSL_TUNE` is none of its values.
    #[error("TRITON_DSL_TUNE is `{found}`; set it to `off`, `read` or `on`, or unset it, which means `on`")]
    #[non_exhaustive]
    Mode {
        /// Its value.
        found: String,
    },

    /// There is nothing to choose from.
    #[error("`{op}` has no candidate for the call; list one that takes any shape")]
    #[non_exhaustive]
    NoCandidate {
        /// The operation.
        op: String,
    },

    /// No candidate could be run.
    #[error("every candidate of `{op}` failed: {}; fix one of them, or list another", reasons(.failures))]
    #[non_exhaustive]
    Candidates {
        /// The operation.
        op: String,
        /// Of each candidate its name, and why it failed.
        failures: Vec<(String, Failure)>,
    },

    /// The file of times cannot be read or written.
    #[error("{}: {message}; set TRITON_DSL_CACHE_DIR to a folder that can be written, or leave out saving", path.display())]
    #[non_exhaustive]
    Store {
        /// The file.
        path: PathBuf,
        /// What the system says.
        message: String,
    },

    /// There is no folder for the file of times.
    #[error("there is no folder to keep times in; set TRITON_DSL_CACHE_DIR or HOME")]
    NoFolder,

    /// The file of times is another one, which is left as it is.
    #[error("{}: {source}; or remove the file", path.display())]
    #[non_exhaustive]
    Table {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        source: TableError,
    },

    /// The file of times is of another device.
    #[error("{}: the times are of `{found}`, but this is `{expected}`; tune on this device, or embed the table as a hint", path.display())]
    #[non_exhaustive]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The device that it names.
        found: String,
        /// The device of the tuner.
        expected: String,
    },

    /// The device, whatever is launched on it.
    #[error(transparent)]
    Device(#[from] triton::Error),
}

/// Why a candidate was dropped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// It could not be loaded or launched.
    #[error(transparent)]
    Launch(BoxError),

    /// It did not end in time.
    #[error("it ran for more than {limit_us} us")]
    #[non_exhaustive]
    TimedOut {
        /// The most microseconds.
        limit_us: f64,
    },

    /// Its time cannot be one.
    #[error("its time is {found} us")]
    #[non_exhaustive]
    Time {
        /// The time, in microseconds.
        found: f64,
    },

    /// Its outputs are not those of the first candidate.
    #[error(
        "its outputs differ from those of `{first}` by {error:.3e} of the largest number, more than {tolerance:.3e}"
    )]
    #[non_exhaustive]
    Differs {
        /// The first candidate.
        first: String,
        /// The largest difference over the largest magnitude of the first one's.
        error: f64,
        /// The most that is accepted.
        tolerance: f64,
    },

    /// It failed when it was measured before.
    #[error("it failed when it was measured before; remove its line from the file of times to try it again")]
    Before,

    /// There is no recorded time of it.
    #[error("no time of it was recorded for this key")]
    NotRecorded,
}

impl Failure {
    /// Whether it would fail in another process, too: that memory was short would not last.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Failure::Launch(error) => error.downcast_ref().is_some_and(triton::Error::is_of_code),
            Failure::TimedOut { .. } | Failure::Time { .. } | Failure::Differs { .. } | Failure::Before => true,
            Failure::NotRecorded => false,
        }
    }

    /// The error of the device, if it is broken for all candidates.
    pub(crate) fn of_device(&self) -> Option<&triton::Error> {
        let Failure::Launch(error) = self else { return None };
        error.downcast_ref().filter(|error| matches!(error, triton::Error::Device { .. }))
    }
}

/// The first of many reasons.
fn reasons(failures: &[(String, Failure)]) -> String {
    const NAMED: usize = 8;
    let mut named: Vec<String> = failures.iter().take(NAMED).map(|(name, why)| format!("{name}: {why}")).collect();
    if let Some(more @ 1..) = failures.len().checked_sub(NAMED) {
        named.push(format!("and {more} more"));
    }
    named.join("; ")
}
