//! Recorded times: one row a sample, in a file that a killed run continues.
//!
//! The columns are `version, device, op`, then `context.NAME`, `choice.NAME` and `estimate.NAME` of the kernel, then `registers,
//! shared, local, us, clock`. An *estimate* is what the compiler knows of a candidate before it runs: cycles, blocks, waves. A file
//! whose name ends in `.gz` is compressed.
//!
//! ```
//! use triton_tune::data::{Recorder, Row, Schema, read};
//!
//! let path = std::env::temp_dir().join(format!("triton-tune-{}.csv", std::process::id()));
//! let schema = Schema::new(["m"], ["BM"], []);
//! let row = Row { device: "H200".into(), op: "gemm".into(), context: vec![4096], choice: vec![128], us: 12.5, ..Row::default() };
//! let mut recorder = Recorder::open(&path, &schema)?;
//! if !recorder.contains(&row) {
//!     recorder.append(&row)?;
//! }
//! drop(recorder);
//!
//! // The next run appends what is not there yet.
//! assert!(Recorder::open(&path, &schema)?.contains(&row));
//! assert_eq!(read(&path)?.rows, [row]);
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), triton_tune::Error>(())
//! ```

mod file;
mod group;
mod recorder;

pub use file::{read, read_bytes, write};
pub use group::{Group, group};
pub use recorder::Recorder;

/// The version of the format, which each row states.
pub const VERSION: u32 = 1;

/// The columns before those of the kernel.
const FIRST: [&str; 3] = ["version", "device", "op"];
/// The columns after them.
const LAST: [&str; 5] = ["registers", "shared", "local", "us", "clock"];

/// The names of a kernel's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// What a call is given.
    pub context: Vec<String>,
    /// What the tuner chooses.
    pub choice: Vec<String>,
    /// What the compiler estimates.
    pub estimates: Vec<String>,
}

impl Schema {
    /// The columns of these names.
    pub fn new<'a>(
        context: impl IntoIterator<Item = &'a str>,
        choice: impl IntoIterator<Item = &'a str>,
        estimates: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let owned = |name: &str| name.to_owned();
        Self {
            context: context.into_iter().map(owned).collect(),
            choice: choice.into_iter().map(owned).collect(),
            estimates: estimates.into_iter().map(owned).collect(),
        }
    }

    /// The columns of the file.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let named = [("context", &self.context), ("choice", &self.choice), ("estimate", &self.estimates)];
        let named = named.into_iter().flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind}.{name}")));
        let fixed = |names: &'static [&str]| names.iter().map(|name| (*name).to_owned());
        fixed(&FIRST).chain(named).chain(fixed(&LAST)).collect()
    }

    /// The number of columns of the file.
    fn width(&self) -> usize {
        FIRST.len() + self.context.len() + self.choice.len() + self.estimates.len() + LAST.len()
    }

    /// The schema of a file's columns; nothing if they are other ones.
    fn of_columns<'a>(columns: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let names = |kind: &'static str| columns.clone().filter_map(move |column| column.strip_prefix(kind));
        let schema = Self::new(names("context."), names("choice."), names("estimate."));
        columns.eq(schema.columns().iter().map(String::as_str)).then_some(schema)
    }
}

/// A sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The device: name, capability, multiprocessors, clock of the memory, driver.
    pub device: String,
    /// The operation with its types and orders.
    pub op: String,
    /// A value of each column of the context.
    pub context: Vec<i64>,
    /// A value of each column of the choice.
    pub choice: Vec<i64>,
    /// A value of each estimate.
    pub estimates: Vec<f64>,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of local memory of a thread: spills.
    pub local: u32,
    /// Microseconds, the median of several runs.
    pub us: f64,
    /// The clock of the multiprocessors while it ran, in MHz; 0 if it is unknown.
    pub clock: u32,
}

/// Rows and the names of their columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// The columns.
    pub schema: Schema,
    /// The rows.
    pub rows: Vec<Row>,
    /// Whether a last line that a killed run left half-written was dropped.
    pub dropped: bool,
}
