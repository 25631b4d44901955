//! What is asked of an error, and errors that are made in several places.

use super::Error;
use crate::other::OtherError;

impl Error {
    /// Whether it is of the code of one member of a pool, or of its grid, so that another member may run. Nothing was enqueued then.
    pub fn is_of_code(&self) -> bool {
        matches!(
            self,
            Error::Config { .. }
                | Error::NoImage { .. }
                | Error::DriverTooOld { .. }
                | Error::SharedMemory { .. }
                | Error::Cluster { .. }
                | Error::Jit { .. }
                | Error::Ir { .. }
                | Error::Grid { .. }
                | Error::Driver { .. }
        )
    }

    /// [`Error::Selection`], for selectors: of each member its name, and why it failed.
    pub fn selection(pool: impl Into<String>, failures: Vec<String>) -> Error {
        Error::Selection { pool: pool.into(), failures }
    }

    /// An error of another type: see [`OtherError`].
    pub fn other(error: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error::Other(OtherError::new(error))
    }

    pub(crate) fn out_of_memory(requested: u64, device: String) -> Error {
        Error::OutOfMemory { requested, free: 0, total: 0, device }
    }
}
