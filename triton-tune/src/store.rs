//! The file of times: `tune/DEVICE.tsv` in the folder of the program's cache.
//!
//! It appears whole: it is written under another name and renamed. What another process has written meanwhile is read first and kept; a lock beside
//! the file, which is given up after a while, keeps two processes from doing so at once. A lost lock costs a time that is measured again.

use crate::error::{Error, Result};
use crate::file;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use triton_select::{Selection, Table, device_name};

/// How long to wait for another process.
const WAIT: Duration = Duration::from_millis(500);
/// A lock that is older was left by a process that ended.
const STALE: Duration = Duration::from_secs(10);
/// Larger files are not tables.
const LARGEST: u64 = 1 << 28;

/// The times that a [`Tuner`](crate::Tuner) has measured, and their file.
#[derive(Debug)]
pub struct Store<'t> {
    selection: &'t Selection,
    file: Option<&'t Path>,
}

impl<'t> Store<'t> {
    pub(crate) fn new(selection: &'t Selection, file: Option<&'t Path>) -> Store<'t> {
        Store { selection, file }
    }

    /// The file; `None` if there is no folder for it, or the tuner is [off](crate::Mode::Off).
    pub fn path(&self) -> Option<&Path> {
        self.file
    }

    /// All times of this device: those of the file, and those that were measured since.
    pub fn table(&self) -> Table {
        self.selection.measured().clone()
    }

    /// Adds the times of a table of the same kind of device.
    ///
    /// # Errors
    /// [`Error::Foreign`].
    pub fn merge(&self, table: &Table) -> Result<()> {
        if self.selection.add_measured(table) {
            return Ok(());
        }
        Err(foreign(self.file.unwrap_or(Path::new("the table")), table, self.selection))
    }

    /// Adds the times of a file that a tuner wrote on the same kind of device. Damaged lines are skipped.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, [`Error::Content`] if it is not a table, [`Error::Foreign`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let text = read(path).map_err(Error::file(path))?;
        let (table, _) = Table::parse(&text).map_err(Error::content(path))?;
        if self.selection.add_measured(&table) { Ok(()) } else { Err(foreign(path, &table, self.selection)) }
    }

    /// Writes the file, with what is in it already. A tuner does so by itself after it has measured, and ignores errors.
    ///
    /// # Errors
    /// [`Error::NoFolder`], [`Error::File`]; [`Error::Content`] if the file is of a version that is not known here, which stays as it is.
    pub fn save(&self) -> Result<()> {
        self.write_to(self.file.ok_or(Error::NoFolder)?)
    }

    /// Writes all times to another file, with what is in it already: for a program to embed, by
    /// [`Table::embedded`]`(include_str!(..))`.
    ///
    /// # Errors
    /// As of [`Store::save`].
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        create(folder).map_err(Error::file(path))?;
        let _lock = Lock::take(path);
        let mut table = match read(path).map(|text| Table::parse(&text)) {
            Ok(Ok((table, _))) if table.is_of(&device_name(self.selection.device())) => table,
            Ok(Err(source @ triton_select::Error::Version { .. })) => return Err(Error::content(path)(source)),
            // Anything else is useless to this device.
            Ok(Ok(_) | Err(_)) | Err(_) => Table::new(device_name(self.selection.device())),
        };
        let measured = self.table();
        table.merge(&measured);
        file::replace(path, table.to_string().as_bytes())
    }
}

fn foreign(path: &Path, table: &Table, selection: &Selection) -> Error {
    let (found, expected) = (table.device().to_string(), device_name(selection.device()));
    Error::Foreign { path: path.to_path_buf(), found, expected }
}

/// The file of a device in a folder of the cache.
pub(crate) fn path(folder: &Path, device: &str) -> PathBuf {
    let mut name = String::new();
    for c in device.chars() {
        match c {
            'a'..='z' | '0'..='9' | '.' => name.push(c),
            'A'..='Z' => name.push(c.to_ascii_lowercase()),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    folder.join("tune").join(name + ".tsv")
}

/// The text of a file. Bytes that are not text become characters that no line has, so that their lines are damaged.
fn read(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a file of times"));
    }
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

/// Makes a folder, and those above it, for this user alone: the cache of code, which may be beside it, trusts no other.
fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file that is there while a process reads, merges and writes.
struct Lock(Option<PathBuf>);

impl Lock {
    /// Waits for it; after a while without.
    fn take(path: &Path) -> Lock {
        let lock = path.with_extension("lock");
        let start = SystemTime::now();
        loop {
            match OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(_) => return Lock(Some(lock)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => return Lock(None),
            }
            let age = fs::metadata(&lock).and_then(|found| found.modified());
            if age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE)) {
                let _ = fs::remove_file(&lock);
            } else if start.elapsed().map_or(true, |waited| waited > WAIT) {
                return Lock(None);
            } else {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// The times of a file, for a device: nothing if there is no such file, or it is of another device or version.
pub(crate) fn start(selection: &Selection, path: &Path) {
    if let Ok(Ok((table, _))) = read(path).map(|text| Table::parse(&text)) {
        selection.add_measured(&table);
    }
}

#[test]
fn names_of_files() {
    let cases = [
        (
            "NVIDIA H200, 9.0, 132 multiprocessors, driver 12080",
            "tune/nvidia-h200-9.0-132-multiprocessors-driver-12080.tsv",
        ),
        ("CPU", "tune/cpu.tsv"),
        ("../x/Ä", "tune/..-x-.tsv"),
    ];
    for (device, expected) in cases {
        assert_eq!(path(Path::new("/c"), device), Path::new("/c").join(expected));
    }
}
