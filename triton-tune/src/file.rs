//! Files that are written whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Writes a file under another name beside it, and renames it: readers see the old file or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_file_name(format!(".{}-{:016x}.tmp", std::process::id(), fastrand::u64(..)));
    // A file of this name is not ours.
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary);
    let mut file = file.map_err(Error::file(path))?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| {
        // What is left of it is of no use; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&temporary);
        Error::file(path)(source)
    })
}
