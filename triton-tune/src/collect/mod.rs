//! Collecting data: instances that no list has are drawn, compiled, loaded, checked and measured, row by row, into a file that a killed run
//! continues.
//!
//! The order is by instance, so that each is compiled and loaded once. Some are compiled and loaded at a time by all threads, and then measured
//! while nothing else runs.

mod check;
mod clock;
mod operands;
mod plan;
mod prepare;
mod products;
mod refusals;
mod space;

use crate::data::{Recorder, Row, Schema};
use crate::error::{BoxError, Error, Failure, Result};
use crate::jit::{Instance, Order, Refused};
use crate::measure::{Effort, Measure, Trial};
use clock::Clock;
use plan::{Job, Sample};
use prepare::{Prepared, Spent};
use products::Products;
use refusals::Refusals;
use space::{CHOICE, CONTEXT};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use triton::metadata::Target;
use triton::{DType, Stream};

/// What is collected.
#[derive(Clone, Debug)]
pub struct Options {
    /// Element types: `f32`, `f16`, `bf16`.
    pub types: Vec<DType>,
    /// How operands are stored.
    pub orders: Vec<Order>,
    /// Instances of all types and orders together.
    pub instances: usize,
    /// Samples of each instance.
    pub samples: usize,
    /// Contexts of each type, among which those of an instance are chosen.
    pub contexts: usize,
    /// The largest M, N and K.
    pub limit: [i64; 3],
    /// What random numbers start from.
    pub seed: u64,
    /// How long to measure, at most.
    pub time: Duration,
    /// The file.
    pub out: PathBuf,
    /// Whether the products of each instance are compared with those of integers.
    pub checked: bool,
    /// Instead of drawing instances, every one of a pool, in contexts that are not drawn otherwise.
    pub complete: Option<Complete>,
}

impl Default for Options {
    /// 2,000 instances of `bf16` and `f32` in three orders with 25 samples each, of 1,000 contexts of a type, in 7 minutes.
    fn default() -> Options {
        let order = |ta, tb| Order { ta, tb };
        Options {
            types: vec![DType::BF16, DType::F32],
            orders: vec![order(false, false), order(false, true), order(true, false)],
            instances: 2000,
            samples: 25,
            contexts: 1000,
            limit: [8192, 8192, 131_072],
            seed: 1,
            time: Duration::from_secs(420),
            out: "data.csv".into(),
            checked: true,
            complete: None,
        }
    }
}

/// A complete measurement.
#[derive(Clone, Debug)]
pub struct Complete {
    /// The number of contexts of each type.
    pub contexts: usize,
    /// The instances, each with all numbers of splits that fit.
    pub pool: Vec<Instance>,
}

/// How far it is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Samples that are measured, refused or were in the file.
    pub done: usize,
    /// Samples of all instances.
    pub all: usize,
    /// Instances that are through.
    pub instances: usize,
    /// Since the start.
    pub elapsed: Duration,
}

/// What was collected.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Rows of the file.
    pub rows: usize,
    /// Rows of this run.
    pub measured: usize,
    /// Instances of this run that were compiled, and time of a thread for them.
    pub compiled: (usize, Duration),
    /// Images of this run that were loaded by the driver, and time of a thread for them.
    pub loaded: (usize, Duration),
    /// Time in which instances were compiled and loaded by all threads.
    pub preparing: Duration,
    /// Time in which instances were checked.
    pub checking: Duration,
    /// Time in which samples were measured.
    pub measuring: Duration,
    /// Refused instances by the reason.
    pub refused: BTreeMap<String, usize>,
    /// Samples without a row, by the reason, of this run.
    pub skipped: BTreeMap<String, usize>,
    /// Whether nothing is left.
    pub complete: bool,
}

/// The columns of data of products.
#[must_use]
pub fn schema() -> Schema {
    Schema::new(CONTEXT, CHOICE, ["cycles"])
}

/// Instances that are prepared at a time.
const CHUNK: usize = 128;
/// Bytes of local memory of a thread that are not worth a word: a load takes so few for more blocks.
const FEW_LOCAL: u32 = 16;

/// Collects data on the device of a stream.
///
/// # Errors
/// A file that cannot be used, a device that is broken: then what was measured is in the file, and the next run leaves out the instance that did it.
pub fn run(
    options: &Options,
    stream: &Stream,
    measure: &dyn Measure,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Summary> {
    let start = Instant::now();
    let jobs = plan::plan(options)?;
    let mut collector = Collector {
        options,
        stream,
        measure,
        device: triton_select::device_name(stream.device()),
        clock: Clock::start(),
        recorder: Recorder::open(&options.out, &schema())?,
        refusals: Refusals::open(&options.out)?,
        products: products_of(options, &jobs, stream)?,
        best: HashMap::new(),
        summary: Summary::default(),
        progress: Progress { all: jobs.iter().map(|job| job.samples.len()).sum(), ..Progress::default() },
        start,
    };
    let targets: Vec<Target> = match stream.device().compute_capability() {
        Some(capability) => Target::ALL.iter().copied().filter(|target| target.runs_on(capability)).collect(),
        None => vec![Target::LEAST],
    };
    let mut left = jobs.iter().peekable();
    while left.peek().is_some() && !collector.is_late() {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK {
            let Some(job) = left.next() else { break };
            if collector.is_new(job) {
                chunk.push(job);
            } else {
                collector.progress.done += job.samples.len();
                collector.progress.instances += 1;
            }
        }
        collector.chunk(&chunk, &targets, progress)?;
    }
    collector.summary.complete = left.peek().is_none() && !collector.is_late();
    collector.summary.rows = collector.recorder.len();
    collector.summary.refused = collector.refusals.counts().clone();
    Ok(collector.summary)
}

/// The products of each type.
fn products_of(options: &Options, jobs: &[Job], stream: &Stream) -> Result<HashMap<DType, Box<dyn Products>>> {
    let mut all = HashMap::new();
    for &ty in &options.types {
        let of_type = jobs.iter().filter(|job| job.instance.ty == ty);
        let elements = operands::largest(of_type.flat_map(|job| &job.samples).map(|sample| sample.extents));
        let Some(products) = products::of(ty, stream, elements, options.seed)? else {
            return Err(Error::name("type of products", ty.name(), ["f32", "f16", "bf16"]));
        };
        all.insert(ty, products);
    }
    Ok(all)
}

struct Collector<'c> {
    options: &'c Options,
    stream: &'c Stream,
    measure: &'c dyn Measure,
    device: String,
    clock: Clock,
    recorder: Recorder,
    refusals: Refusals,
    products: HashMap<DType, Box<dyn Products>>,
    /// The shortest time in a context so far.
    best: HashMap<(String, Vec<i64>), f64>,
    summary: Summary,
    progress: Progress,
    start: Instant,
}

impl Collector<'_> {
    fn is_late(&self) -> bool {
        self.start.elapsed() >= self.options.time
    }

    /// The row of a sample, without what is measured.
    fn row(&self, instance: &Instance, sample: &Sample) -> Row {
        let [m, n, k] = sample.extents;
        let aligned = operands::is_aligned(instance, sample.extents);
        Row {
            device: self.device.clone(),
            op: format!("gemm-{}", instance.ty),
            context: vec![m, n, k, instance.order.ta.into(), instance.order.tb.into(), aligned.into()],
            choice: instance.choice(sample.splits),
            ..Row::default()
        }
    }

    /// Whether anything of a job is to be measured.
    fn is_new(&self, job: &Job) -> bool {
        let is_new = |sample| !self.recorder.contains(&self.row(&job.instance, sample));
        !self.refusals.contains(&job.instance) && job.samples.iter().any(is_new)
    }

    /// Prepares some instances and measures them.
    fn chunk(&mut self, chunk: &[&Job], targets: &[Target], progress: &mut dyn FnMut(&Progress)) -> Result<()> {
        let start = Instant::now();
        let (prepared, spent) = prepare::prepare(chunk, targets, &mut self.products, self.stream)?;
        let Spent { compiled, loaded } = spent;
        let add = |(count, time): &mut (usize, Duration), (more, longer): (usize, Duration)| {
            *count += more;
            *time += longer;
        };
        add(&mut self.summary.compiled, compiled);
        add(&mut self.summary.loaded, loaded);
        self.summary.preparing += start.elapsed();
        for (job, prepared) in chunk.iter().zip(prepared) {
            let before = self.progress.done;
            match prepared {
                Err(why) => self.refusals.add(&job.instance, &why)?,
                Ok(prepared) => self.job(job, &prepared, progress)?,
            }
            if self.is_late() {
                return Ok(());
            }
            self.progress.done = before + job.samples.len();
            self.progress.instances += 1;
            self.progress.elapsed = self.start.elapsed();
            progress(&self.progress);
        }
        Ok(())
    }

    /// Checks an instance, and measures its samples.
    fn job(&mut self, job: &Job, prepared: &Prepared, progress: &mut dyn FnMut(&Progress)) -> Result<()> {
        let start = Instant::now();
        for &check in prepared.checks.iter().filter(|_| self.options.checked) {
            let Some(products) = self.products.get_mut(&job.instance.ty) else { return Ok(()) };
            let why = match products.check(&job.instance, prepared.kernel, check, self.stream) {
                Ok(None) => continue,
                Ok(Some(why)) => why,
                Err(error) => self.broken(&job.instance, error)?,
            };
            return self.refusals.add(&job.instance, &why);
        }
        self.summary.checking += start.elapsed();
        let mut measured = false;
        for (sample, info) in job.samples.iter().zip(&prepared.infos) {
            if self.is_late() {
                return Ok(());
            }
            self.progress.done += 1;
            let row = self.row(&job.instance, sample);
            if self.recorder.contains(&row) {
                measured = true;
                continue;
            }
            let (registers, shared, local) = match info {
                Ok(info) => *info,
                Err(why) => {
                    *self.summary.skipped.entry(why.reason.clone()).or_insert(0) += 1;
                    continue;
                }
            };
            if local > FEW_LOCAL {
                *self.summary.skipped.entry("spills".into()).or_insert(0) += 1;
                continue;
            }
            let start = Instant::now();
            match self.sample(job, prepared, sample, &row)? {
                Ok(us) => {
                    let (estimates, clock) = (vec![prepared.cycles], self.clock.mhz());
                    self.recorder.append(&Row { estimates, registers, shared, local, us, clock, ..row })?;
                    self.summary.measured += 1;
                    measured = true;
                }
                Err(why) => *self.summary.skipped.entry(why.reason).or_insert(0) += 1,
            }
            self.summary.measuring += start.elapsed();
            self.progress.elapsed = self.start.elapsed();
            progress(&self.progress);
        }
        if measured {
            Ok(())
        } else {
            self.refusals.add(&job.instance, &Refused::new("no sample", "none of its samples was measured"))
        }
    }

    /// Measures a sample.
    fn sample(&mut self, job: &Job, prepared: &Prepared, sample: &Sample, row: &Row) -> Result<Result<f64, Refused>> {
        let key = (row.op.clone(), row.context.clone());
        let best_us = self.best.get(&key).copied();
        let (measure, stream, name) = (self.measure, self.stream, job.instance.to_string());
        let Some(products) = self.products.get_mut(&job.instance.ty) else {
            return Ok(Err(Refused::new("type", "there are no products of the type")));
        };
        let mut outcome = None;
        let run = &mut |launch: &dyn operands::AnyLaunch, programs| {
            let mut enqueue = || launch.enqueue(stream, programs).map_err(BoxError::from);
            let mut trial = Trial {
                op: &row.op,
                key: &row.context,
                member: &name,
                effort: Effort::Precise,
                best_us,
                stream,
                launch: &mut enqueue,
            };
            outcome = Some(measure.measure(&mut trial));
            Ok(())
        };
        let made = products.with(&job.instance, prepared.kernel, sample.extents, sample.splits, run);
        let failure = match (made, outcome) {
            (Ok(()), Some(Ok(us))) if us.is_finite() && us > 0.0 => {
                let best = self.best.entry(key).or_insert(us);
                *best = best.min(us);
                return Ok(Ok(us));
            }
            (Ok(()), Some(Ok(us))) => return Ok(Err(Refused::new("time", format!("{us} us")))),
            (Ok(()), Some(Err(failure))) => failure,
            (Ok(()), None) => return Ok(Err(Refused::new("launch", "it was not launched"))),
            (Err(error), _) => Failure::Launch(error.into()),
        };
        match failure.of_device().cloned() {
            Some(error) => self.broken(&job.instance, error).map(Err),
            None => Ok(Err(Refused::new("launch", failure))),
        }
    }

    /// An error of an instance. If the device is broken, which the instance has done, the next run leaves it out.
    fn broken(&mut self, instance: &Instance, error: triton::Error) -> Result<Refused> {
        let why = Refused::new("launch", &error);
        if matches!(error, triton::Error::Device { .. }) {
            self.refusals.add(instance, &why)?;
            return Err(error.into());
        }
        Ok(why)
    }
}
