//! The error types: what was found, what was expected, and how to fix it.

use std::path::PathBuf;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a launch.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why the tuner cannot go on.
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

    /// There is no folder for the file of times.
    #[error("there is no folder to keep times in; set TRITON_DSL_CACHE_DIR or HOME")]
    NoFolder,

    /// A file holds no table or model that can be used.
    #[error("`{}`: {source}", path.display())]
    #[non_exhaustive]
    Content {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        source: triton_select::Error,
    },

    /// The file of times is of another device.
    #[error("`{}`: the times are of `{found}`, but this is `{expected}`; tune on this device, or embed the table as a hint", path.display())]
    #[non_exhaustive]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The device that it names.
        found: String,
        /// The device of the tuner.
        expected: String,
    },

    /// A file cannot be read or written.
    #[error("`{}` cannot be used: {source}; check the path and its permissions", path.display())]
    #[non_exhaustive]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// A line of recorded data is not as its header says.
    #[error("`{}`, line {line}: {found}, but {expected} is expected; remove the line", path.display())]
    #[non_exhaustive]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },

    /// The header of recorded data has other columns.
    #[error("`{}` has the columns {found}, but {expected} are expected; record into another file", path.display())]
    #[non_exhaustive]
    Columns {
        /// The file.
        path: PathBuf,
        /// Its columns.
        found: String,
        /// The columns that are expected.
        expected: String,
    },

    /// A name is not known.
    #[error("unknown {what} `{found}`, expected one of: {}", .expected.join(", "))]
    #[non_exhaustive]
    Name {
        /// What it names.
        what: &'static str,
        /// The name.
        found: String,
        /// The names that there are.
        expected: Vec<String>,
    },

    /// A number or a text is not what it has to be.
    #[error("{what} is {found}, but {expected} is expected; {fix}")]
    #[non_exhaustive]
    Value {
        /// What it is.
        what: &'static str,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
        /// What to do.
        fix: &'static str,
    },

    /// A model.
    #[error(transparent)]
    Model(#[from] triton_select::Error),

    /// The device, whatever is launched on it.
    #[error(transparent)]
    Device(#[from] triton::Error),
}

impl Error {
    /// The error of a file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// The error of what a file holds.
    pub(crate) fn content(path: impl Into<PathBuf>) -> impl FnOnce(triton_select::Error) -> Self {
        let path = path.into();
        move |source| Self::Content { path, source }
    }
}

/// Of what is done ahead of time.
#[cfg(feature = "train")]
impl Error {
    /// A value that is not what it has to be.
    pub(crate) fn value(what: &'static str, found: impl ToString, expected: impl ToString, fix: &'static str) -> Self {
        Self::Value { what, found: found.to_string(), expected: expected.to_string(), fix }
    }

    /// A name that is not known.
    pub(crate) fn name<S: ToString>(
        what: &'static str,
        found: impl ToString,
        expected: impl IntoIterator<Item = S>,
    ) -> Self {
        let expected = expected.into_iter().map(|name| name.to_string()).collect();
        Self::Name { what, found: found.to_string(), expected }
    }
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

    /// There is no memory to compare its outputs in.
    #[error("its outputs cannot be compared: {0}")]
    Unchecked(triton::Error),

    /// It failed when it was measured before.
    #[error("it failed when it was measured before; remove its line from the file of times to try it again")]
    Before,

    /// The compiler estimates kernels of pools alone, and is in a program by the feature `compiler` of `triton-dsl`.
    #[error(
        "there is no estimate of it: the compiler makes them for members of pools, if `triton-dsl` has the feature `compiler`"
    )]
    NotEstimated,

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
            Failure::Unchecked(_) | Failure::NotEstimated | Failure::NotRecorded => false,
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
