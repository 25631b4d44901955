//! The one error type: what was found, what was expected, and how to fix it.

use std::path::PathBuf;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the tuner cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("`{}` cannot be used: {source}; check the path and its permissions", .path.display())]
    #[non_exhaustive]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// A line of recorded data is not as its header says.
    #[error("`{}`, line {line}: {found}, but {expected} is expected; remove the line", .path.display())]
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
    #[error("`{}` has the columns {found}, but {expected} are expected; record into another file", .path.display())]
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
    #[error("there is no {what} `{found}`; there are: {}", .expected.join(", "))]
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
    Model(#[from] triton_select::model::Error),
}

impl Error {
    /// The error of a file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

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
