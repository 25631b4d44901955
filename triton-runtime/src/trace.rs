//! What a program launches, and what selectors choose, as text for tools: `TRITON_DSL_TRACE` names a folder, in which each process writes a
//! file `PID.trace`. A launch is told once for each kernel, grid and shape of its arguments.
//!
//! A line is a record, of fields between tabs:
//!
//! ```text
//! launch  INSTANCE  CONFIG  DEVICE  PROGRAMS  SPECIALIZATION.ORDER  IMAGES  ARGUMENT ..
//! time    INSTANCE  CONFIG  MICROSECONDS
//! select  POOL  KEY  DEVICE  CHOSEN  WHY  MEMBER ..
//! ```
//!
//! `IMAGES` are `NUMBER:+` of the one that is taken and `NUMBER:WHY` of the others, between bars; an argument is `NAME;WORDS;FIRST;BYTES;FILE;TYPE` with
//! the words that the kernel receives, where its buffer begins and how long it is, and what that holds before the launch, a file of the folder:
//! if `TRITON_DSL_TRACE_DATA` is set. Times are told of every launch, which is then waited for, if `TRITON_DSL_TRACE_TIMES` is set. A member is `NAME;FITS;ESTIMATE;MEASURED` in microseconds. Numbers are decimal; what there is not is `-`.

use crate::args::LaunchArg;
use crate::gpu::Gpu;
use crate::lock;
use crate::stream::Stream;
use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;
use triton_ir::metadata::{ComputeCapability, KernelMetadata, Machine};

const FOLDER: &str = "TRITON_DSL_TRACE";
const DATA: &str = "TRITON_DSL_TRACE_DATA";
const TIMES: &str = "TRITON_DSL_TRACE_TIMES";

/// Bytes of a buffer that are written at most: inputs of tests are small.
const MOST_DATA: usize = 64 << 20;

/// What was asked for, once.
static TRACE: LazyLock<Option<Trace>> = LazyLock::new(Trace::from_env);

struct Trace {
    folder: PathBuf,
    with_data: bool,
    with_times: bool,
    file: Mutex<File>,
    told: Mutex<BTreeSet<String>>,
}

impl Trace {
    /// Nothing if no folder is named, or none can be written: a program does not fail for it.
    fn from_env() -> Option<Trace> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = PathBuf::from(set(FOLDER)?);
        let path = folder.join(format!("{}.trace", std::process::id()));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        match file {
            Ok(file) => Some(Trace {
                folder,
                with_data: set(DATA).is_some(),
                with_times: set(TIMES).is_some(),
                file: Mutex::new(file),
                told: Mutex::new(BTreeSet::new()),
            }),
            Err(error) => {
                eprintln!("triton-dsl: {FOLDER}: {} cannot be written: {error}", path.display());
                None
            }
        }
    }

    /// Whether it is told for the first time.
    fn is_new(&self, record: &str) -> bool {
        lock(&self.told).insert(record.to_string())
    }

    fn tell(&self, record: &str) {
        // A trace that is cut off is the tool's to report.
        let _ = lock(&self.file).write_all(format!("{record}\n").as_bytes());
    }

    /// The contents of the buffer of an argument, as a file of the folder.
    fn data(&self, arg: &LaunchArg<'_>, stream: &Stream, name: &str) -> Option<String> {
        let allocation = arg.allocation()?;
        let bytes = allocation.memory().len();
        if !self.with_data || bytes > MOST_DATA || stream.is_captured() {
            return None;
        }
        let mut contents = vec![0; bytes];
        allocation.download(0, &mut contents, stream).and_then(|()| stream.synchronize()).ok()?;
        std::fs::write(self.folder.join(name), contents).ok()?;
        Some(name.to_string())
    }
}

/// Whether anything is to be told. A launch that was made before as it is, and kept, does not ask.
#[inline]
pub fn is_on() -> bool {
    TRACE.is_some()
}

/// Whether launches are timed.
pub(crate) fn is_timed() -> bool {
    TRACE.as_ref().is_some_and(|trace| trace.with_times)
}

/// Tells of the time of a launch on its device.
pub(crate) fn time(instance: &str, config: usize, taken: Duration) {
    if let Some(trace) = &*TRACE {
        trace.tell(&format!("time\t{instance}\t{config}\t{:.3}", taken.as_secs_f64() * 1e6));
    }
}

/// The GPU that images are named for where there is none: an H100.
pub(crate) const ASSUMED: Gpu = Gpu {
    capability: ComputeCapability::new(9, 0),
    driver: None,
    multiprocessors: Machine::H200.multiprocessors,
    shared_limit: Machine::H200.shared_bytes,
};

/// A launch.
pub(crate) struct Traced<'t, 'a> {
    pub(crate) metadata: &'t KernelMetadata,
    pub(crate) config: usize,
    pub(crate) args: &'t [LaunchArg<'a>],
    pub(crate) programs: [u32; 3],
    /// What holds of the arguments: `divisible16.0`.
    pub(crate) holds: String,
    /// The image that is taken, and why others are not, by their numbers.
    pub(crate) images: Vec<Option<String>>,
}

/// Tells of a launch before it runs.
pub(crate) fn launch(of: &Traced<'_, '_>, stream: &Stream) {
    let Some(trace) = &*TRACE else { return };
    let Traced { metadata, config, programs: [x, y, z], .. } = of;
    let images = of.images.iter().enumerate().map(|(index, why)| format!("{index}:{}", why.as_deref().unwrap_or("+")));
    let images = images.collect::<Vec<_>>().join("|");
    let head =
        format!("launch\t{}\t{config}\t{}\t{x}x{y}x{z}\t{}\t{images}", metadata.instance, device(stream), of.holds);
    let shape = of.args.iter().fold(String::new(), |mut shape, arg| {
        // Addresses differ from run to run.
        let is_scalar = arg.ty.scalar().is_some();
        let _ = write!(shape, "\t{:?}", &arg.words()[usize::from(!is_scalar)..]);
        shape
    });
    if !trace.is_new(&format!("{head}{shape}")) {
        return;
    }
    let number = lock(&trace.told).len();
    let mut record = head;
    for (index, (arg, param)) in of.args.iter().zip(metadata.params.iter()).enumerate() {
        let words: Vec<String> = arg.words().iter().map(u64::to_string).collect();
        let memory = arg.allocation().map(|memory| (memory.address(), memory.memory().len()));
        let file = format!("{}-{number}-{index}.bin", std::process::id());
        let file = trace.data(arg, stream, &file);
        let (first, bytes) = memory.map_or(("-".into(), "-".into()), |(at, len)| (at.to_string(), len.to_string()));
        let file = file.as_deref().unwrap_or("-");
        let _ = write!(record, "\t{};{};{first};{bytes};{file};{}", param.name, words.join(","), param.ty);
    }
    trace.tell(&record);
}

/// A member of a pool, as a selector sees it: microseconds, where they are known.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Whether it may run.
    pub fits: bool,
    /// What is expected of it.
    pub estimate: Option<f64>,
    /// What was measured of it.
    pub measured: Option<f64>,
}

/// Tells of a choice; the candidates are asked for if it is told.
pub fn select(
    pool: &str,
    key: &[i64],
    stream: &Stream,
    (chosen, why): (usize, &str),
    candidates: impl FnOnce() -> Vec<Candidate>,
) {
    let Some(trace) = &*TRACE else { return };
    let key: Vec<String> = key.iter().map(i64::to_string).collect();
    let mut record = format!("select\t{pool}\t{}\t{}\t{chosen}\t{why}", key.join(","), device(stream));
    if !trace.is_new(&record) {
        return;
    }
    let shown = |value: Option<f64>| value.map_or("-".to_string(), |us| format!("{us:.2}"));
    for Candidate { name, fits, estimate, measured } in candidates() {
        let _ = write!(record, "\t{name};{fits};{};{}", shown(estimate), shown(measured));
    }
    trace.tell(&record);
}

/// The name of a device in one field.
fn device(stream: &Stream) -> impl Display {
    stream.device().to_string().replace(['\t', '\n'], " ")
}
