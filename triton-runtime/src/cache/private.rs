//! Files that only this user can have written: machine code is run unseen, so that writing an entry means running code
//! here.
//!
//! What this user creates in a folder shows who this user is, also where the file system translates users. On a read-only file system
//! nothing can be created, and the user is that of this process.
//!
//! On Unix a folder or file is refused unless it belongs to this user and grants no other user write access. On other
//! systems the user's own cache folder has to be protected by the system's defaults.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Makes a folder, and those above it, for this user alone. One that is there already stays as it is.
///
/// # Errors
/// The file system's.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a file whole: under an unpredictable name, and renamed.
///
/// # Errors
/// The file system's, or that others can write to the folder.
pub(super) fn write(folder: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let (mut temporary, path) = create_file(folder)?;
    let written = check(folder, &fs::metadata(folder)?, owner(&temporary.metadata()?))
        .and_then(|()| temporary.write_all(bytes))
        .and_then(|()| fs::rename(&path, file));
    if written.is_err() {
        let _ = fs::remove_file(&path);
    }
    written
}

/// The bytes of a file in a folder, if both can be trusted and there are at most `most` of them.
///
/// # Errors
/// The file system's, or what is wrong with folder or file.
pub(super) fn read(folder: &Path, file: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Opening what is not a regular file may block (a pipe) or lead elsewhere (a link).
    regular(file, &fs::symlink_metadata(file)?)?;
    let opened = File::open(file)?;
    let found = opened.metadata()?;
    regular(file, &found)?;
    if found.len() > most {
        return Err(io::Error::other(format!("{} has {} bytes, more than {most}", file.display(), found.len())));
    }
    let own = this_user(create_file(folder))?;
    check(folder, &fs::metadata(folder)?, own)?;
    check(file, &found, own)?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(opened, most), &mut bytes)?;
    Ok(bytes)
}

/// Who owns what this user creates, given a new file or why there is none. The file is removed.
fn this_user(created: io::Result<(File, PathBuf)>) -> io::Result<Owner> {
    match created {
        Ok((file, path)) => {
            let found = file.metadata();
            let _ = fs::remove_file(path);
            Ok(owner(&found?))
        }
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            // Its folder in `/proc` belongs to the user of the process, as this process sees users. Elsewhere there is none.
            fs::metadata("/proc/self").map(|found| owner(&found)).map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

/// A new file with a random name: creating it fails where something, be it a link, has that name already.
fn create_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    // The keys of the standard library's hash maps are the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    let path = folder.join(format!(".{}-{random:016x}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok((options.open(&path)?, path))
}

fn regular(path: &Path, found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(io::Error::other(format!("{} is not a regular file", path.display())))
}

/// The number of a user; nothing where files have no such owner.
#[cfg(unix)]
type Owner = u32;
#[cfg(not(unix))]
type Owner = ();

#[cfg(unix)]
fn owner(found: &Metadata) -> Owner {
    std::os::unix::fs::MetadataExt::uid(found)
}

#[cfg(not(unix))]
fn owner(_found: &Metadata) -> Owner {}

/// Rejects a path that belongs to another user than `own`, or that others may write.
#[cfg(unix)]
fn check(path: &Path, found: &Metadata, own: Owner) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let (path, mode) = (path.display(), found.mode() & 0o7777);
    if found.uid() != own {
        let message = format!("{path} belongs to user {}, not to user {own}: use a folder of your own", found.uid());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    if mode & 0o022 != 0 {
        let message = format!("{path} may be written by others (mode {mode:o}): run `chmod go-w {path}`");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(_path: &Path, _found: &Metadata, _own: Owner) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{create_file, this_user};
    use std::io::{Error, ErrorKind};

    /// A read-only mount needs rights that tests do not have: what creating a file gives there is passed.
    #[test]
    fn the_user_is_known_without_writing() {
        let created = this_user(create_file(&std::env::temp_dir())).expect("the folder is writable");
        let read_only = || Error::from(ErrorKind::ReadOnlyFilesystem);
        assert_eq!(this_user(Err(read_only())).expect("Linux has /proc"), created);
        // A user who may not write has not written what is there.
        let refused = this_user(Err(Error::from(ErrorKind::PermissionDenied))).expect_err("it is not known");
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    }
}
