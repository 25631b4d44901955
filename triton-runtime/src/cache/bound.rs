//! How much a folder of entries holds: what was not used for longest goes first.
//!
//! Only files with the names of this cache are counted and removed, since a folder may hold others. Other processes may read, write and evict
//! meanwhile: what they have open stays readable, and at worst an entry that was just written is gone, which is a miss.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Notes that a file was used now. Where it cannot be noted, as on a read-only file system, the file counts as used when it was written.
pub(super) fn touch(file: &Path) {
    if let Ok(file) = File::open(file) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// A file of the cache.
struct Held {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// Removes files of the cache until they have at most `most` bytes in all, except for one that was just written.
///
/// # Errors
/// The folder cannot be listed.
pub(super) fn evict(folder: &Path, most: u64, written: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        // Of a link itself, which is not a regular file. What is gone meanwhile is left out.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_file() && entry.file_name().to_str().is_some_and(is_ours) {
            let used = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            all.push(Held { used, bytes: found.len(), path: entry.path() });
        }
    }
    let mut total = all.iter().fold(0, |sum: u64, held| sum.saturating_add(held.bytes));
    all.sort_by(|a, b| a.used.cmp(&b.used).then_with(|| a.path.cmp(&b.path)));
    for held in all.iter().filter(|held| held.path != written) {
        if total <= most {
            break;
        }
        // Another process may have removed it, which is as good.
        let _ = fs::remove_file(&held.path);
        total = total.saturating_sub(held.bytes);
    }
    Ok(())
}

/// Whether a file has the name of an entry, or of one that is being written: a process that is killed leaves it.
fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(hash) = name.strip_suffix(".cubin") {
        return is_number(hash);
    }
    let Some((process, random)) = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp")?.split_once('-'))
    else {
        return false;
    };
    !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()) && is_number(random)
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn names_of_the_cache() {
        for name in ["0123456789abcdef.cubin", ".17-0123456789abcdef.tmp"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["mine.cubin", "0123456789abcdef", "tune", ".17-3.tmp", ".x-0123456789abcdef.tmp", "a.tmp", ""] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
