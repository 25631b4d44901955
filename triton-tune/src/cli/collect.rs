//! `triton-tune collect`.

use super::print;
use crate::collect::{Complete, Options, Progress, Summary, run};
use crate::data::{Data, read};
use crate::error::{Error, Result};
use crate::jit::{Instance, Order};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use triton::{DType, Device};

/// What is computed.
#[derive(Clone, Copy, ValueEnum)]
enum Op {
    /// Matrix products.
    Gemm,
}

#[derive(Args)]
pub(super) struct Collect {
    /// What is computed.
    #[arg(long, value_enum, default_value = "gemm")]
    op: Op,
    /// Element types: f32, f16, bf16.
    #[arg(long, value_delimiter = ',', default_value = "bf16,f32", value_parser = dtype)]
    types: Vec<DType>,
    /// How the operands are stored: NN, NT, TN, TT.
    #[arg(long, value_delimiter = ',', default_value = "NN,NT,TN")]
    orders: Vec<Order>,
    /// How long to measure, at most.
    #[arg(long, default_value_t = 420.0)]
    seconds: f64,
    /// The file that rows are appended to. It is continued if it is there.
    #[arg(long)]
    out: PathBuf,
    /// Instances of all types and orders together.
    #[arg(long, default_value_t = 2000)]
    instances: usize,
    /// Samples of each instance.
    #[arg(long, default_value_t = 25)]
    samples: usize,
    /// Contexts of each type, among which those of an instance are chosen.
    #[arg(long, default_value_t = 1000)]
    contexts: usize,
    /// What random numbers start from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the device.
    #[arg(long, default_value_t = 0)]
    device: usize,
    /// Overwrite this many MiB before each launch, so that operands are in memory and not in the L2 cache.
    #[arg(long, default_value_t = 0)]
    flush: usize,
    /// Do not compare what instances compute.
    #[arg(long)]
    unchecked: bool,
    /// Instead, measure every instance of a pool in this many contexts of each type, which are never drawn otherwise.
    #[arg(long)]
    complete: Option<usize>,
    /// The pool: a file of instances, one a line, as a run prints them.
    #[arg(long, requires = "complete")]
    pool: Option<PathBuf>,
    /// The pool: the best of recorded data, of each type and order as many as `--best`.
    #[arg(long, requires = "complete", num_args = 1..)]
    from: Vec<PathBuf>,
    /// How many are best.
    #[arg(long, default_value_t = 48)]
    best: usize,
}

fn dtype(name: &str) -> Result<DType, String> {
    let known = DType::from_name(name).filter(|ty| matches!(ty, DType::F32 | DType::F16 | DType::BF16));
    known.ok_or_else(|| format!("there are no products of `{name}`; write f32, f16 or bf16"))
}

impl Collect {
    pub(super) fn run(self) -> Result<()> {
        let Op::Gemm = self.op;
        let device = Device::cuda(self.device)?;
        let stream = device.stream()?;
        let complete =
            self.complete.map(|contexts| self.pool_of().map(|pool| Complete { contexts, pool })).transpose()?;
        let time = Duration::try_from_secs_f64(self.seconds)
            .map_err(|_| Error::value("the seconds", self.seconds, "a positive number", "leave out `--seconds`"))?;
        let options = Options {
            types: self.types,
            orders: self.orders,
            instances: self.instances,
            samples: self.samples,
            contexts: self.contexts,
            seed: self.seed,
            time,
            checked: !self.unchecked,
            out: self.out,
            complete,
            ..Options::default()
        };
        let measure = crate::Device::new().flush(self.flush << 20);
        print(&format!("{device}, recording into {}\n", options.out.display()))?;
        let mut shown = Shown::new();
        let summary = run(&options, &stream, &measure, &mut |progress| shown.show(progress))?;
        shown.bar.finish_and_clear();
        print(&text(&summary))
    }

    /// The instances of the pool.
    fn pool_of(&self) -> Result<Vec<Instance>> {
        if let Some(path) = &self.pool {
            return named(path);
        }
        let mut data = Data::default();
        for path in &self.from {
            let read = read(path)?;
            data.schema = read.schema;
            data.rows.extend(read.rows);
        }
        let pool = best(&data, self.best);
        if pool.is_empty() {
            let fix = "name them by `--pool FILE`, or data by `--from FILE`";
            return Err(Error::value("the number of instances of the pool", 0, "at least one", fix));
        }
        Ok(pool)
    }
}

/// The instances of a file.
fn named(path: &Path) -> Result<Vec<Instance>> {
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(index, line): (usize, &str)| {
        line.trim().parse().map_err(|expected: String| Error::Line {
            path: path.to_owned(),
            line: index as u64 + 1,
            found: format!("`{line}`"),
            expected,
        })
    };
    lines.map(read).collect()
}

/// Of each type and order the instances that are nearest to the best of their contexts, which others were measured in, too: by the mean of the
/// nearest third of their samples, as an instance is for some contexts and not for all.
fn best(data: &Data, count: usize) -> Vec<Instance> {
    let mut fastest: BTreeMap<(&str, &[i64]), f64> = BTreeMap::new();
    for row in &data.rows {
        let best = fastest.entry((&row.op, &row.context)).or_insert(row.us);
        *best = best.min(row.us);
    }
    /// How near the samples of instances are to the best, by their names.
    type Near = BTreeMap<String, (Instance, Vec<f64>)>;
    let mut groups: BTreeMap<String, Near> = BTreeMap::new();
    for row in &data.rows {
        let Some((instance, _)) = Instance::recorded(&row.op, &row.context, &row.choice) else { continue };
        let fastest = fastest.get(&(row.op.as_str(), row.context.as_slice())).copied().unwrap_or(row.us);
        let group = groups.entry(format!("{} {}", instance.ty, instance.order)).or_default();
        group.entry(instance.to_string()).or_insert((instance, Vec::new())).1.push(fastest / row.us);
    }
    let mut pool = Vec::new();
    for group in groups.into_values() {
        let mut ranked: Vec<(f64, Instance)> = group
            .into_values()
            .map(|(instance, mut near)| {
                near.sort_by(|a, b| b.total_cmp(a));
                near.truncate((near.len() / 3).max(1));
                (near.iter().sum::<f64>() / near.len() as f64, instance)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        pool.extend(ranked.into_iter().take(count).map(|(_, instance)| instance));
    }
    pool
}

/// A bar on a terminal; elsewhere a line every few seconds.
struct Shown {
    bar: ProgressBar,
    last: Instant,
    plain: bool,
}

/// Time between two lines.
const LINES: Duration = Duration::from_secs(10);

impl Shown {
    fn new() -> Shown {
        let plain = !std::io::stdout().is_terminal();
        let bar = if plain { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} samples {msg} {elapsed}");
        Shown { bar: if let Ok(style) = style { bar.with_style(style) } else { bar }, last: Instant::now(), plain }
    }

    fn show(&mut self, progress: &Progress) {
        let Progress { done, all, instances, elapsed } = progress;
        if !self.plain {
            self.bar.set_length(*all as u64);
            self.bar.set_position(*done as u64);
            self.bar.set_message(format!("{instances} instances"));
        } else if self.last.elapsed() >= LINES {
            self.last = Instant::now();
            // A line that cannot be printed is missed by no one.
            let _ = print(&format!("{done} of {all} samples, {instances} instances, {:.0} s\n", elapsed.as_secs_f64()));
        }
    }
}

/// What was collected, as a text.
fn text(summary: &Summary) -> String {
    let each = |(count, time): (usize, Duration)| {
        format!("{count}, {:.1} ms of a thread each", time.as_secs_f64() * 1e3 / count.max(1) as f64)
    };
    let counts = |counts: &BTreeMap<String, usize>| {
        let total: usize = counts.values().sum();
        let by: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if total == 0 { "0".to_owned() } else { format!("{total}: {}", by.join(", ")) }
    };
    let Summary { rows, measured, compiled, loaded, preparing, checking, measuring, refused, skipped, complete } =
        summary;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:20} {value}");
    };
    line("rows in the file", rows.to_string());
    let per_second = *measured as f64 / measuring.as_secs_f64().max(1e-9);
    line("measured", format!("{measured}, {per_second:.0} a second"));
    line("compiled", each(*compiled));
    line("loaded by the driver", each(*loaded));
    line("preparing", format!("{:.1} s by all threads", preparing.as_secs_f64()));
    line("checking", format!("{:.1} s", checking.as_secs_f64()));
    line("measuring", format!("{:.1} s", measuring.as_secs_f64()));
    line("instances refused", counts(refused));
    line("samples skipped", counts(skipped));
    line("left", if *complete { "nothing".into() } else { "run it again to continue".into() });
    text
}
