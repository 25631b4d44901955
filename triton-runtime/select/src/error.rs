//! The one error type: why bytes are not a table or a model, or numbers do not fit one.

use std::fmt;

/// The result type of tables and models.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text does not begin as a table does.
    NotATable,
    /// The bytes do not begin as a model does.
    NotAModel,
    /// A table or a model of another version.
    #[non_exhaustive]
    Version {
        /// `table` or `model`.
        of: &'static str,
        /// Its version.
        found: String,
        /// The version that this crate reads.
        expected: u32,
    },
    /// The file ends too early.
    #[non_exhaustive]
    Truncated {
        /// The bytes that there are.
        found: usize,
        /// The bytes that there are at least in a file of this kind.
        expected: usize,
    },
    /// The file's checksum is another one.
    #[non_exhaustive]
    Checksum {
        /// The checksum of the bytes.
        found: u64,
        /// The checksum that the file states.
        expected: u64,
    },
    /// A part of a model does not fit the others.
    #[non_exhaustive]
    Invalid {
        /// The part.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// The model has other features than the kernel.
    #[non_exhaustive]
    Features {
        /// `context` or `choice`.
        of: &'static str,
        /// The features of the model.
        found: Vec<String>,
        /// The features of the kernel.
        expected: Vec<String>,
    },
    /// A slice has another length than it should have.
    #[non_exhaustive]
    Length {
        /// What the slice holds.
        of: &'static str,
        /// Its length.
        found: usize,
        /// The length that is expected.
        expected: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATable => {
                write!(f, "the text does not begin with `triton-tune 1` and a device; pass what a tuner wrote")
            }
            Self::NotAModel => {
                write!(f, "the bytes are not a model: a file that `triton-tune train` wrote is expected")
            }
            Self::Version { of, found, expected } => {
                let again = if *of == "table" { "tune" } else { "train" };
                write!(
                    f,
                    "the {of} has version `{found}`, but {expected} is expected; {again} again, or update triton-select"
                )
            }
            Self::Truncated { found, expected } => {
                write!(f, "the model has {found} bytes, but at least {expected} are expected; copy the file again")
            }
            Self::Checksum { found, expected } => {
                write!(
                    f,
                    "the model's checksum is {found:016x}, but the file states {expected:016x}; copy the file again"
                )
            }
            Self::Invalid { what, found, expected } => {
                write!(f, "in the model, {what} is {found}, but {expected} is expected; train it again")
            }
            Self::Features { of, found, expected } => {
                let (found, expected) = (found.join(", "), expected.join(", "));
                write!(
                    f,
                    "the model's features of the {of} are {found}, but the kernel has {expected}; train it for this kernel"
                )
            }
            Self::Length { of, found, expected } => {
                write!(
                    f,
                    "{of} has length {found}, but {expected} is expected; pass a value for each, in the model's order"
                )
            }
        }
    }
}

impl std::error::Error for Error {}
