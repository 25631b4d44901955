//! Tables of measured times: what a program embeds, and what a tuner keeps on disk.
//!
//! One format for both, a line a time, columns between tabs:
//!
//! ```text
//! triton-tune 1  DEVICE
//! OP  POOL  KEY  MEMBER  FINGERPRINT  MICROSECONDS  CHECK
//! softmax::<f32>  9c0f..  12672,16,1  M=1 N=16384 num_warps=16 num_stages=3  51ab..  8.25  0f3a91c2
//! ```
//!
//! POOL is the fingerprint of all candidates that there were, FINGERPRINT that of the one; both are hexadecimal, and so is CHECK, a hash of the rest
//! of the line: a line that was cut off in its time is not a faster time. A line that is damaged is skipped, the others count.
//!
//! Why not JSON: each program that selects would carry a parser for it; two files are merged, compared and cut by lines; and a
//! spreadsheet reads it.

use crate::candidate::Candidates;
use crate::error::{Error, Result};
use crate::hash;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use triton::Device;

/// Begins every table, and changes with the format.
const MAGIC: &str = "triton-tune ";
/// The version of the format.
const VERSION: u32 = 1;

/// The time of one candidate for one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The operation.
    pub op: String,
    /// The fingerprint of all candidates that there were.
    pub pool: u64,
    /// The key.
    pub key: Vec<i64>,
    /// The candidate's name.
    pub member: String,
    /// Its fingerprint.
    pub fingerprint: u64,
    /// How long it took, in microseconds. Infinite if it failed: it is not tried again.
    pub us: f64,
}

/// The times of one operation by key, each by the candidate's name.
type Times = BTreeMap<Vec<i64>, BTreeMap<String, Time>>;

/// The time of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time {
    pub(crate) pool: u64,
    pub(crate) fingerprint: u64,
    pub(crate) us: f64,
}

/// Times that were measured on one kind of device.
///
/// ```
/// use triton_select::{Record, Table};
///
/// let mut table = Table::new("NVIDIA H200, 9.0, 132 multiprocessors");
/// table.insert(Record {
///     op: "softmax".into(), pool: 7, key: vec![12672, 16], member: "N=16384".into(), fingerprint: 1, us: 8.25,
/// });
/// let (again, damaged) = Table::parse(&table.to_string())?;
/// assert_eq!((again, damaged), (table, 0));
/// # Ok::<(), triton_select::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    device: String,
    ops: BTreeMap<String, Times>,
}

/// A device as tables name it: `NVIDIA H200, 9.0, 132 multiprocessors, driver 12080`.
pub fn device_name(device: &Device) -> String {
    let mut name: String = device.name().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if let Some(capability) = device.compute_capability() {
        let _ = write!(name, ", {capability}, {} multiprocessors", device.multiprocessors());
    }
    if let Some(driver) = device.driver_version() {
        let _ = write!(name, ", driver {driver}");
    }
    name
}

/// A device's name without the version of its driver.
fn model(device: &str) -> &str {
    device.split(", driver ").next().unwrap_or_default()
}

impl Table {
    /// An empty table of a device: see [`device_name`].
    pub fn new(device: impl Into<String>) -> Table {
        Table { device: device.into(), ops: BTreeMap::new() }
    }

    /// The device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Whether it is of the same kind of device, whatever the version of the driver is.
    pub fn is_of(&self, device: &str) -> bool {
        model(&self.device) == model(device)
    }

    /// The table of a text, and how many damaged lines were skipped.
    ///
    /// # Errors
    /// [`Error::NotATable`], [`Error::Version`].
    pub fn parse(text: &str) -> Result<(Table, usize)> {
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| line.strip_prefix(MAGIC)).ok_or(Error::NotATable)?;
        let (version, device) = first.split_once('\t').ok_or(Error::NotATable)?;
        if version != VERSION.to_string() {
            return Err(Error::Version { of: "table", found: version.to_string(), expected: VERSION });
        }
        let mut table = Table::new(device);
        let inserted = |line| read(line).is_some_and(|record| table.insert(record));
        let damaged = lines.filter(|line| !line.is_empty()).map(inserted).filter(|whole| !whole).count();
        Ok((table, damaged))
    }

    /// The table of a text that a program embeds: an empty one if the text is not a table, since a program runs without one.
    pub fn embedded(text: &str) -> Table {
        Table::parse(text).map(|(table, _)| table).unwrap_or_default()
    }

    /// Adds a time, over that of the same candidate and key. `false` if it cannot be one: a time that is not positive, a name with
    /// control characters.
    pub fn insert(&mut self, record: Record) -> bool {
        let Record { op, pool, key, member, fingerprint, us } = record;
        let named = |name: &str| !name.is_empty() && !name.contains(char::is_control);
        if !(us > 0.0 && named(&op) && named(&member)) {
            return false;
        }
        self.ops.entry(op).or_default().entry(key).or_default().insert(member, Time { pool, fingerprint, us });
        true
    }

    /// Adds the times of another table, over those of the same candidates and keys.
    pub fn merge(&mut self, other: &Table) {
        other.records().for_each(|record| {
            self.insert(record);
        });
    }

    /// All times, in order.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.ops.iter().flat_map(|(op, times)| {
            times.iter().flat_map(move |(key, members)| {
                members.iter().map(move |(member, time)| Record {
                    op: op.clone(),
                    pool: time.pool,
                    key: key.clone(),
                    member: member.clone(),
                    fingerprint: time.fingerprint,
                    us: time.us,
                })
            })
        })
    }

    /// How many times there are.
    pub fn len(&self) -> usize {
        self.ops.values().flat_map(BTreeMap::values).map(BTreeMap::len).sum()
    }

    /// Whether there is a time of an operation.
    pub fn has(&self, op: &str) -> bool {
        self.ops.contains_key(op)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Only the fastest candidate of each key, if one did not fail: what a program embeds.
    pub fn winners(&self) -> Table {
        let mut table = Table::new(&*self.device);
        for record in self.records().filter(|record| record.us.is_finite()) {
            let best = table.times(&record.op, &record.key).first().map(|(_, time)| time.us);
            if best.is_none_or(|best| record.us < best) {
                if let Some(times) = table.ops.get_mut(&record.op) {
                    times.remove(&record.key);
                }
                table.insert(record);
            }
        }
        table
    }

    /// The times of a key, the fastest first.
    pub(crate) fn times(&self, op: &str, key: &[i64]) -> Vec<(&str, Time)> {
        let members = self.ops.get(op).and_then(|times| times.get(key));
        let mut all: Vec<(&str, Time)> =
            members.into_iter().flatten().map(|(name, time)| (name.as_str(), *time)).collect();
        all.sort_by(|(_, a), (_, b)| a.us.total_cmp(&b.us));
        all
    }

    /// The keys of an operation.
    pub(crate) fn keys(&self, op: &str) -> impl Iterator<Item = &[i64]> {
        self.ops.get(op).into_iter().flatten().map(|(key, _)| key.as_slice())
    }

    /// The record of a candidate.
    pub fn record(candidates: &dyn Candidates, pool: u64, key: &[i64], index: usize, us: f64) -> Record {
        Record {
            op: candidates.op().into_owned(),
            pool,
            key: key.to_vec(),
            member: candidates.name(index).into_owned(),
            fingerprint: candidates.fingerprint(index),
            us,
        }
    }
}

/// The text of a table.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{MAGIC}{VERSION}\t{}", self.device)?;
        for record in self.records() {
            let line = line(&record);
            writeln!(f, "{line}\t{:08x}", check(&line))?;
        }
        Ok(())
    }
}

fn line(record: &Record) -> String {
    let key: Vec<String> = record.key.iter().map(i64::to_string).collect();
    let Record { op, pool, member, fingerprint, us, .. } = record;
    format!("{op}\t{pool:016x}\t{}\t{member}\t{fingerprint:016x}\t{us}", key.join(","))
}

fn check(line: &str) -> u32 {
    hash::bytes(line.as_bytes()) as u32
}

/// The record of a line; `None` if it is damaged.
fn read(line: &str) -> Option<Record> {
    let (line, sum) = line.rsplit_once('\t')?;
    if u32::from_str_radix(sum, 16) != Ok(check(line)) {
        return None;
    }
    let mut columns = line.split('\t');
    let mut next = || columns.next();
    let (op, pool, key, member, fingerprint, us) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let words = key.split(',').filter(|word| !word.is_empty()).map(str::parse);
    Some(Record {
        op: op.to_string(),
        pool: hex(pool)?,
        key: words.collect::<Result<_, _>>().ok()?,
        member: member.to_string(),
        fingerprint: hex(fingerprint)?,
        us: us.parse().ok()?,
    })
}
