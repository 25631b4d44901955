//! `triton-tune table ..`.

use super::{bar, print};
use crate::error::Result;
use crate::report;
use crate::sample::Options;
use clap::{Args, Subcommand};
use std::time::Instant;

#[derive(Subcommand)]
pub(super) enum Table {
    /// How many samples are legal, uniform and fitted (ISAAC, Table 1).
    Acceptance(Acceptance),
    /// The size of our search space, before and after rules.
    Space(Space),
}

impl Table {
    pub(super) fn run(self) -> Result<()> {
        match self {
            Self::Acceptance(table) => table.run(),
            Self::Space(table) => table.run(),
        }
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
