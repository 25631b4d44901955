//! `triton-tune train`, `prune` and `regret`, and what they share with the tables of networks.

use super::{bar, print};
use crate::data::{Data, group, read};
use crate::error::{Error, Result};
use crate::prune::{Losses, prune};
use crate::regret::regret;
use crate::report::text;
use crate::space::tensor::judge;
use crate::train::{Cpu, Fitted, Lessons, Options, Scale, Split, Table, TargetKind, split};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use triton_select::model::Model;

/// Recorded data.
#[derive(Args, Clone)]
pub(super) struct Recorded {
    /// Files of recorded rows, `.csv` or `.csv.gz`, all of the same columns.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// Only rows of this operation.
    #[arg(long)]
    op: Option<String>,
    /// Only rows of devices whose name contains this.
    #[arg(long)]
    device: Option<String>,
}

impl Recorded {
    /// The same of other files.
    pub(super) fn of(&self, data: Vec<PathBuf>) -> Self {
        Self { data, ..self.clone() }
    }

    /// All rows of all files that are asked for.
    pub(super) fn read(&self) -> Result<Data> {
        let mut all = Data::default();
        for (index, path) in self.data.iter().enumerate() {
            let data = read(path)?;
            if index > 0 && data.schema != all.schema {
                let [found, expected] = [data.schema, all.schema].map(|schema| schema.columns().join(","));
                return Err(Error::Columns { path: path.clone(), found, expected });
            }
            all.schema = data.schema;
            all.dropped |= data.dropped;
            all.rows.extend(data.rows);
        }
        if let Some(device) = &self.device {
            all.rows.retain(|row| row.device.contains(device));
        }
        if all.rows.is_empty() {
            let expected = "at least one of this device";
            return Err(Error::value("the number of recorded rows", 0, expected, "record data first"));
        }
        let mut ops: Vec<String> = all.rows.iter().map(|row| row.op.clone()).collect();
        ops.sort();
        ops.dedup();
        match &self.op {
            Some(op) if ops.contains(op) => all.rows.retain(|row| row.op == *op),
            Some(op) => return Err(Error::name("operation", op, ops)),
            // What is learned of one says nothing of another.
            None if ops.len() > 1 => {
                let fix = "choose one by `--op`";
                return Err(Error::value("the data of several operations", ops.join(", "), "one operation", fix));
            }
            None => {}
        }
        Ok(all)
    }
}

/// The schedule of training.
#[derive(Args)]
pub(super) struct Schedule {
    /// Passes over the rows.
    #[arg(long, default_value_t = Options::default().epochs)]
    epochs: usize,
    /// Rows of a step.
    #[arg(long, default_value_t = Options::default().batch)]
    batch: usize,
    /// The learning rate at the start; it falls to a hundredth.
    #[arg(long, default_value_t = Options::default().rates[0])]
    rate: f32,
    /// What random numbers start from.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

impl Schedule {
    pub(super) fn options(&self, hidden: &[usize]) -> Options {
        let rates = [self.rate, self.rate / 100.0];
        Options { hidden: hidden.to_vec(), epochs: self.epochs, batch: self.batch, rates, seed: self.seed }
    }
}

/// What networks predict.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Target {
    /// log₂ of microseconds.
    Time,
    /// TFLOPS, as ISAAC's published code does.
    Tflops,
}

impl From<Target> for TargetKind {
    fn from(target: Target) -> Self {
        match target {
            Target::Time => Self::Time,
            Target::Tflops => Self::Tflops,
        }
    }
}

#[derive(Args)]
pub(super) struct Train {
    #[command(flatten)]
    recorded: Recorded,
    #[command(flatten)]
    schedule: Schedule,
    /// The units of the hidden layers.
    #[arg(long, value_delimiter = ',', default_value = "64,128,64")]
    hidden: Vec<usize>,
    /// Rows that are held out, as whole contexts, and measured by; 0 trains on all.
    #[arg(long, default_value_t = 10_000)]
    held_out: usize,
    /// Also registers, shared memory and estimates of the compiler that depend on the context or the choice alone.
    #[arg(long)]
    compiled: bool,
    /// Predict by which factor times differ from the column `estimate.us`: who ranks candidates by the model adds log₂ of the estimate.
    #[arg(long, conflicts_with = "teachers")]
    factors: bool,
    /// Leave out candidates that take more than this many times as long as the fastest of their context: which is the slowest does not matter.
    #[arg(long)]
    within: Option<f64>,
    /// Networks that are trained on the rows, each with what the launches of products are beside; the model learns the mean of what
    /// they predict. 0 trains it on the rows.
    #[arg(long, default_value_t = 0, conflicts_with = "compiled")]
    teachers: usize,
    /// Calls that teachers predict beside the recorded ones.
    #[arg(long, default_value_t = 500_000)]
    calls: usize,
    /// Passes over the rows by each teacher.
    #[arg(long, default_value_t = 60)]
    lessons: usize,
    /// The file of the model.
    #[arg(long)]
    out: PathBuf,
}

impl Train {
    pub(super) fn run(self) -> Result<()> {
        let mut data = self.recorded.read()?;
        if let Some(times) = self.within {
            data.retain_within(times);
        }
        let mut table = Table::new(&data, self.compiled)?;
        table.columns.retain(|column| column.part != crate::train::Part::Joint);
        let [train, test] = split(&table, Split::Context, self.held_out, self.schedule.seed);
        let options = self.schedule.options(&self.hidden);
        let bar = bar(options.epochs + self.teachers * self.lessons, "training");
        let mut progress = |_: usize, error: f64| {
            bar.inc(1);
            bar.set_message(format!("error {error:.4}"));
        };
        let fitted = if self.teachers == 0 {
            let kind = (Scale::Log, if self.factors { TargetKind::Factor } else { TargetKind::Time });
            Fitted::train(&table, &train, kind, &Cpu, &options, &mut progress)?
        } else {
            let rows = train.iter().map(|&row| data.rows[row].clone()).collect();
            let known = Data { schema: data.schema.clone(), rows, dropped: false };
            let teaching = Options { epochs: self.lessons, batch: 512, rates: [4e-3, 2e-5], ..options.clone() };
            let lessons = Lessons { teachers: self.teachers, options: teaching, calls: self.calls };
            Fitted::taught(&known, &lessons, &Cpu, &options, &mut progress)?
        };
        bar.finish_and_clear();
        let bytes = fitted.model()?.to_bytes();
        crate::file::replace(&self.out, &bytes)?;
        let held_out = match test.len() {
            0 => String::new(),
            count => format!(", {:.4} on {count} held out", fitted.error(&table, &test)),
        };
        print(&format!(
            "{}: {} weights, {} bytes; mean squared error {:.4} on {} rows{held_out}\nfeatures: {}\n",
            self.out.display(),
            fitted.network.weights(),
            bytes.len(),
            fitted.error(&table, &train),
            train.len(),
            fitted.features.names().collect::<Vec<_>>().join(", "),
        ))
    }
}

/// Reads a model.
pub(super) fn model(path: &Path) -> Result<Model> {
    Model::parse(&std::fs::read(path).map_err(Error::file(path))?).map_err(Error::content(path))
}

#[derive(Args)]
pub(super) struct Prune {
    #[command(flatten)]
    recorded: Recorded,
    /// The members of the pool.
    #[arg(long, default_value_t = 12)]
    size: usize,
    /// Parameters that each launch chooses anew; without this option, `splits` and `raster` where the data has them.
    #[arg(long, value_delimiter = ',')]
    launch: Option<Vec<String>>,
    /// A model that predicts every instance in every context; without it, only recorded times count, so that each instance has to be
    /// recorded in about every context.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Print the members as the option `configs` of a kernel, and nothing else.
    #[arg(long)]
    emit_configs: bool,
}

impl Prune {
    pub(super) fn run(self) -> Result<()> {
        let data = self.recorded.read()?;
        let usual = || ["splits", "raster"].map(str::to_owned).into_iter();
        let launch = self.launch.unwrap_or_else(|| usual().filter(|name| data.schema.choice.contains(name)).collect());
        let launch: Vec<&str> = launch.iter().map(String::as_str).collect();
        let losses = match &self.model {
            None => Losses::recorded(&data, &launch)?,
            Some(path) => {
                let bar = bar(0, "predicting");
                let progress = |done: usize, all: usize| {
                    bar.set_length(all as u64);
                    bar.set_position(done as u64);
                };
                let known = judge(&data.schema);
                let judge = |context: &[i64], choice: &[i64]| known.and_then(|judge| judge(context, choice));
                let losses = Losses::predicted(&data, &launch, &model(path)?, &judge, progress)?;
                bar.finish_and_clear();
                losses
            }
        };
        let pool = prune(&losses, self.size);
        if self.emit_configs {
            return print(&pool.configs());
        }
        let mut header = vec!["members"];
        header.extend(pool.columns.iter().map(String::as_str));
        header.extend(["mean loss", "worst", "contexts without one"]);
        let rows = (1..).zip(pool.members.iter().zip(&pool.losses)).map(|(count, (member, loss))| {
            let mut row = vec![count.to_string()];
            row.extend(member.iter().map(i64::to_string));
            let percent = |ratio: f64| format!("{:.1} %", 100.0 * (ratio - 1.0));
            row.extend([percent(loss.mean), percent(loss.worst), loss.unmeasured.to_string()]);
            row
        });
        print(&text(&header, &rows.collect::<Vec<_>>()))
    }
}

#[derive(Args)]
pub(super) struct Regret {
    #[command(flatten)]
    recorded: Recorded,
    /// The file of the model.
    #[arg(long)]
    model: PathBuf,
    /// Candidates that would be measured again.
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// The least rows of a context that counts as completely measured. If it is not said: 32, or as many as the largest context has.
    #[arg(long)]
    candidates: Option<usize>,
    /// Print each context.
    #[arg(long)]
    contexts: bool,
}

/// Rows of a context that was completely measured, of a large pool.
const COMPLETE: usize = 32;

impl Regret {
    pub(super) fn run(self) -> Result<()> {
        let data = self.recorded.read()?;
        let largest = group(&data.rows).iter().map(|group| group.rows.len()).max().unwrap_or(0);
        let candidates = self.candidates.unwrap_or(COMPLETE.min(largest));
        let found = regret(&model(&self.model)?, &data, self.top, candidates)?;
        let top = format!("best of {}", self.top);
        if self.contexts {
            let mut header: Vec<&str> = data.schema.context.iter().map(String::as_str).collect();
            header.extend(["candidates", "best, µs", "first", &top]);
            let rows = found.choices.iter().map(|choice| {
                let mut row: Vec<String> = choice.context.iter().map(i64::to_string).collect();
                row.extend([choice.candidates.to_string(), format!("{:.2}", choice.best)]);
                row.extend([choice.first, choice.top].map(|us| format!("{:.3}", us / choice.best)));
                row
            });
            print(&text(&header, &rows.collect::<Vec<_>>()))?;
        }
        let row = |name: &str, of: crate::regret::Summary| {
            vec![name.to_owned(), format!("{:.3}", of.mean), format!("{:.3}", of.worst)]
        };
        let table =
            text(&["time over the best", "mean", "worst"], &[row("first choice", found.first), row(&top, found.top)]);
        print(&format!("{} contexts\n{table}", found.choices.len()))
    }
}
