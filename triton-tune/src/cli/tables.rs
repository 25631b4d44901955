//! `triton-tune table ..`, `plot ..` and `bench ..`.

use super::model::{Recorded, Schedule, Target, model};
use super::{bar, print};
use crate::data::Data;
use crate::error::Result;
use crate::report;
use crate::report::mse::Setting;
use crate::sample::Options;
use crate::train::Cpu;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Subcommand)]
pub(super) enum Table {
    /// How many samples are legal, uniform and fitted (ISAAC, Table 1).
    Acceptance(Acceptance),
    /// The errors of the papers' networks (ISAAC, Table 2; thesis, Table 4.1).
    Mse(Mse),
    /// The size of our search space, before and after rules.
    Space(Space),
    /// What a model chooses for ten problems, beside what is the best where all was measured (ISAAC, Table 6).
    Choices(Choices),
    /// How well the compiler's estimates rank products that were measured.
    #[cfg(feature = "jit")]
    Estimates(Estimates),
}

impl Table {
    pub(super) fn run(self) -> Result<()> {
        match self {
            Self::Acceptance(table) => table.run(),
            Self::Mse(table) => table.run(),
            Self::Space(table) => table.run(),
            Self::Choices(table) => table.run(),
            #[cfg(feature = "jit")]
            Self::Estimates(table) => table.run(),
        }
    }
}

#[cfg(feature = "jit")]
#[derive(Args)]
pub(super) struct Estimates {
    /// Complete measurements, `.csv` or `.csv.gz`
    #[arg(long)]
    complete: PathBuf,
    /// The operations
    #[arg(long, value_delimiter = ',', default_value = "gemm-bf16,gemm-f32")]
    op: Vec<String>,
    /// The most contexts, in all orders of operands
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    contexts: usize,
}

#[cfg(feature = "jit")]
impl Estimates {
    fn run(self) -> Result<()> {
        let data = crate::data::read(&self.complete)?;
        print(&report::estimates::estimates(&data, &self.op, self.contexts, triton_core::metadata::Machine::H200)?)
    }
}

#[derive(Args)]
pub(super) struct Acceptance {
    /// Uniform samples of each space.
    #[arg(long, default_value_t = Options::default().uniform)]
    uniform: usize,
    /// Samples of each fit.
    #[arg(long, default_value_t = Options::default().fitted)]
    fitted: usize,
    /// Accepted samples that a fit is made of.
    #[arg(long, default_value_t = Options::default().accepted)]
    accepted: usize,
    /// What random numbers start from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Acceptance {
    fn run(self) -> Result<()> {
        let (start, bar) = (Instant::now(), bar(0, "sampling"));
        let Self { uniform, fitted, accepted, seed } = self;
        let options = Options { uniform, fitted, accepted, seed, ..Options::default() };
        let progress = |done: usize, all: usize| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        };
        report::acceptance::acceptance(&options, progress, |part| bar.suspend(|| print(part)))?;
        bar.finish_and_clear();
        print(&format!("{:.1} s\n", start.elapsed().as_secs_f64()))
    }
}

#[derive(Args)]
pub(super) struct Space {
    /// Bytes of an element.
    #[arg(long, default_value_t = 2)]
    size: i64,
    /// Contexts whose candidates are counted.
    #[arg(long, default_value_t = 60)]
    contexts: usize,
    /// What random numbers start from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Space {
    fn run(self) -> Result<()> {
        let bar = bar(self.contexts, "counting");
        let table = report::size::size(self.size, self.contexts, self.seed, |done| bar.set_position(done as u64))?;
        bar.finish_and_clear();
        print(&table)
    }
}

/// Networks on recorded data.
#[derive(Args)]
struct Networks {
    #[command(flatten)]
    recorded: Recorded,
    #[command(flatten)]
    schedule: Schedule,
    /// What is predicted.
    #[arg(long, value_enum, default_value = "tflops")]
    target: Target,
    /// Rows that are held out.
    #[arg(long, default_value_t = 10_000)]
    held_out: usize,
    /// The most rows that are trained on.
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    samples: usize,
}

impl Networks {
    fn setting(&self, weights: usize) -> Setting {
        let Self { held_out, samples, target, .. } = *self;
        Setting { target: target.into(), held_out, samples, weights, networks: 1, seed: self.schedule.seed }
    }
}

#[derive(Args)]
pub(super) struct Mse {
    #[command(flatten)]
    networks: Networks,
    /// The most weights: larger networks are left out.
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    weights: usize,
    /// Networks of each row of the table, whose errors are averaged.
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Instead, write what rows are held out: for each row of the data a line of two numbers, 1 if it is held out, by row and by context.
    #[arg(long)]
    split_out: Option<PathBuf>,
}

impl Mse {
    fn run(self) -> Result<()> {
        let data = self.networks.recorded.read()?;
        let setting = Setting { networks: self.repeat, ..self.networks.setting(self.weights) };
        if let Some(path) = &self.split_out {
            return self.write_split(path, &data, &setting);
        }
        let bar = bar(0, "training");
        let progress = |done: usize, all: usize| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        };
        let options = self.networks.schedule.options(&[]);
        let table = report::mse::mse(&data, &setting, &options, &Cpu, progress)?;
        bar.finish_and_clear();
        print(&table)
    }

    fn write_split(&self, path: &Path, data: &Data, setting: &Setting) -> Result<()> {
        let table = crate::train::Table::new(data, false)?;
        // Neither trained on nor held out: left over by `--samples`.
        let mut parts = vec![["", ""]; table.len()];
        for (by, [train, test]) in report::mse::splits(&table, setting).iter().enumerate() {
            train.iter().for_each(|&row| parts[row][by] = "0");
            test.iter().for_each(|&row| parts[row][by] = "1");
        }
        let lines = parts.iter().map(|[row, context]| format!("{row},{context}\n"));
        crate::file::replace(path, format!("row,context\n{}", lines.collect::<String>()).as_bytes())?;
        print(&format!("{}: {} rows\n", path.display(), parts.len()))
    }
}

#[derive(Args)]
pub(super) struct Choices {
    #[command(flatten)]
    recorded: Recorded,
    /// Completely measured contexts.
    #[arg(long)]
    complete: PathBuf,
    /// The file of the model.
    #[arg(long)]
    model: PathBuf,
}

impl Choices {
    fn run(self) -> Result<()> {
        let complete = self.recorded.of(vec![self.complete]);
        let model = model(&self.model)?;
        print(&report::choices::choices(&self.recorded.read()?, &complete.read()?, &model)?)
    }
}

#[derive(Subcommand)]
pub(super) enum Plot {
    /// The error by the number of rows trained on (ISAAC, Figure 5; thesis, Figure 4.7).
    MseBySize(MseBySize),
}

impl Plot {
    pub(super) fn run(self) -> Result<()> {
        match self {
            Self::MseBySize(plot) => plot.run(),
        }
    }
}

#[derive(Args)]
pub(super) struct MseBySize {
    #[command(flatten)]
    networks: Networks,
    /// The units of the hidden layers.
    #[arg(long, value_delimiter = ',', default_value = "64,128,64")]
    hidden: Vec<usize>,
    /// The file of the plot.
    #[arg(long, default_value = "mse-by-size.svg")]
    out: PathBuf,
}

impl MseBySize {
    fn run(self) -> Result<()> {
        let (data, bar) = (self.networks.recorded.read()?, bar(0, "training"));
        let progress = |done: usize, all: usize| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        };
        let options = self.networks.schedule.options(&self.hidden);
        let curves = report::mse::by_size(&data, &self.networks.setting(usize::MAX), &options, &Cpu, progress)?;
        bar.finish_and_clear();
        let title = format!("hidden layers {:?}", self.hidden);
        report::plot::mse_by_size(&self.out, &title, &curves)?;
        let row = |by: &str, &(size, error): &(usize, f64)| vec![by.into(), size.to_string(), format!("{error:.4}")];
        let [rows, contexts] = &curves;
        let rows = rows.iter().map(|point| row("row", point));
        let rows: Vec<_> = rows.chain(contexts.iter().map(|point| row("context", point))).collect();
        let table = report::text(&["held out by", "rows", "mean squared error"], &rows);
        print(&format!("{table}{}\n", self.out.display()))
    }
}

#[derive(Subcommand)]
pub(super) enum Bench {
    /// Candidates a second, and the time of a pool.
    Inference,
    /// Samples a second.
    Training,
}

impl Bench {
    pub(super) fn run(self) -> Result<()> {
        let networks = [vec![32, 64, 32], vec![64, 128, 64], vec![64, 128, 256, 128, 64]];
        print(&match self {
            Self::Inference => report::speed::inference(&networks)?,
            Self::Training => report::speed::training(&networks)?,
        })
    }
}
