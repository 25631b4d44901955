//! Instances that are not measured, and why: counted, and kept beside the data, so that the next run does not try them again.

use crate::error::{Error, Result};
use crate::jit::{Instance, Refused};
use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of them: a line each, of the instance, the reason and the first line of the message.
pub(super) struct Refusals {
    path: PathBuf,
    file: File,
    known: HashSet<String>,
    counts: BTreeMap<String, usize>,
}

impl Refusals {
    /// Opens the file beside a file of data, or makes it.
    pub fn open(data: &Path) -> Result<Refusals> {
        let mut name = data.as_os_str().to_owned();
        name.push(".refused");
        let path = PathBuf::from(name);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(Error::file(&path))?;
        let (mut known, mut counts) = (HashSet::new(), BTreeMap::new());
        for mut fields in text.lines().map(|line| line.split('\t')) {
            if let (Some(instance), Some(reason)) = (fields.next(), fields.next())
                && known.insert(instance.to_owned())
            {
                *counts.entry(reason.to_owned()).or_insert(0) += 1;
            }
        }
        Ok(Refusals { path, file, known, counts })
    }

    /// Whether an instance was refused.
    pub fn contains(&self, instance: &Instance) -> bool {
        self.known.contains(&instance.to_string())
    }

    /// Refuses an instance.
    pub fn add(&mut self, instance: &Instance, why: &Refused) -> Result<()> {
        let message = why.message.lines().next().unwrap_or_default().replace('\t', " ");
        *self.counts.entry(why.reason.clone()).or_insert(0) += 1;
        self.known.insert(instance.to_string());
        writeln!(self.file, "{instance}\t{}\t{message}", why.reason).map_err(Error::file(&self.path))
    }

    /// How many were refused, by the reason.
    pub fn counts(&self) -> &BTreeMap<String, usize> {
        &self.counts
    }
}
