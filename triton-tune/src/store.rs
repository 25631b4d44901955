//! Files that are written whole or not at all.

use crate::error::{Error, Result};
use std::path::Path;

/// Writes a file under another name beside it, and renames it: readers see the old file or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|source| {
        // What is left of it is of no use; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&temporary);
        Error::file(path)(source)
    })
}
