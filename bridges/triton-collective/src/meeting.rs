//! How ranks find each other.

use crate::error::Result;
use crate::exchange::{Exchange, deadline, meet_at, meet_by_file, meet_by_id, together};
use crate::id::Id;
use crate::place::{Place, master};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How the ranks of a world find each other: all of them are given the same.
///
/// | | ranks are | what they share |
/// |---|---|---|
/// | [`Id`](Meeting::Id) | threads of one process | 128 bytes |
/// | [`Address`](Meeting::Address) | processes, on any hosts | `host:port` of rank 0, which listens there until all have come |
/// | [`File`](Meeting::File) | processes, on one host or several with one file system | a path, at which rank 0 writes where it listens |
///
/// Connections are neither encrypted nor authenticated: meet in a network that is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meeting {
    /// By a name.
    Id(Id),
    /// At `host:port` of rank 0. When all have come the port is free again, and the next communicator can be made there.
    Address(String),
    /// By a file, which rank 0 writes and, when all have come, removes. One that an earlier program left is replaced. Its folder has to exist, and a
    /// path is for one meeting at a time.
    File(PathBuf),
}

impl Meeting {
    /// At `host:port` of rank 0.
    pub fn address(address: impl Into<String>) -> Meeting {
        Meeting::Address(address.into())
    }

    /// By a file.
    pub fn file(path: impl Into<PathBuf>) -> Meeting {
        Meeting::File(path.into())
    }

    /// At `MASTER_ADDR` and `MASTER_PORT`, as launchers set them.
    ///
    /// # Errors
    /// [`Error::Environment`](crate::Error::Environment) names the variable that is missing or malformed.
    pub fn from_environment() -> Result<Meeting> {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        master(&variable).map(Meeting::Address)
    }

    /// Meets the others.
    pub(crate) fn connect(&self, place: Place, timeout: Duration) -> Result<Arc<dyn Exchange>> {
        place.check()?;
        // One rank has no other to meet.
        if let (1, Some(alone)) = (place.world, together(1).pop()) {
            return Ok(alone);
        }
        let deadline = deadline(timeout);
        match self {
            Meeting::Id(id) => meet_by_id(*id, place, timeout, deadline),
            Meeting::Address(address) => meet_at(address, place, timeout, deadline),
            Meeting::File(path) => meet_by_file(path, place, timeout, deadline),
        }
    }
}

impl From<Id> for Meeting {
    fn from(id: Id) -> Meeting {
        Meeting::Id(id)
    }
}
