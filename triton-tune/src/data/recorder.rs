//! Appending to a file, and knowing what it has.

use super::file::{check, line, lines, read_bytes, whole_lines};
use super::{Row, Schema};
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that rows are appended to. Each row is written at once: a killed run loses one line at most.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: File,
    schema: Schema,
    /// The devices and operations, which many rows share.
    names: HashMap<(String, String), usize>,
    done: HashSet<(usize, Box<[i64]>)>,
}

impl Recorder {
    /// Opens a file, or makes it. A last line without an end is cut off.
    ///
    /// # Errors
    /// A file that cannot be used, one of other columns, a damaged line before the last one, a compressed file.
    pub fn open(path: impl AsRef<Path>, schema: &Schema) -> Result<Self> {
        let path = path.as_ref().to_owned();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let (found, fix) = (path.display(), "record into a `.csv` file and compress it when it is whole");
            return Err(Error::value("the file that rows are appended to", found, "an uncompressed one", fix));
        }
        let open = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = open.map_err(Error::file(&path))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(Error::file(&path))?;
        let whole = whole_lines(&text);
        let mut recorder = Self { path, file, schema: schema.clone(), names: HashMap::new(), done: HashSet::new() };
        if whole == 0 {
            recorder.cut(0)?;
            let header = lines([schema.columns()]).map_err(Error::file(&recorder.path))?;
            recorder.write(&header)?;
            return Ok(recorder);
        }
        let data = read_bytes(&recorder.path, &text[..whole])?;
        if data.schema != *schema {
            let [found, expected] = [&data.schema, schema].map(|schema| schema.columns().join(","));
            return Err(Error::Columns { path: recorder.path, found, expected });
        }
        if whole < text.len() {
            recorder.cut(whole as u64)?;
        }
        for row in &data.rows {
            recorder.note(row);
        }
        Ok(recorder)
    }

    fn cut(&mut self, length: u64) -> Result<()> {
        self.file.set_len(length).map_err(Error::file(&self.path))?;
        self.file.seek(SeekFrom::End(0)).map_err(Error::file(&self.path)).map(|_| ())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::file(&self.path))
    }

    /// What identifies a row beside its device and operation.
    fn key(row: &Row) -> Box<[i64]> {
        row.context.iter().chain(&row.choice).copied().collect()
    }

    fn note(&mut self, row: &Row) {
        let next = self.names.len();
        let names = *self.names.entry((row.device.clone(), row.op.clone())).or_insert(next);
        self.done.insert((names, Self::key(row)));
    }

    /// Whether the file has a row of the same device, operation, context and choice.
    #[must_use]
    pub fn contains(&self, row: &Row) -> bool {
        let names = self.names.get(&(row.device.clone(), row.op.clone()));
        names.is_some_and(|&names| self.done.contains(&(names, Self::key(row))))
    }

    /// Appends a row.
    ///
    /// # Errors
    /// A file that cannot be written, a row with another number of values.
    pub fn append(&mut self, row: &Row) -> Result<()> {
        check(&self.schema, row)?;
        let line = line(row).map_err(Error::file(&self.path))?;
        self.write(&line)?;
        self.note(row);
        Ok(())
    }

    /// The number of rows of the file, each of another key.
    #[must_use]
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Whether the file has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }
}
