//! The options of a test that runs cases: where they run, which of them, and from which seed.

use super::Case;
use super::place::Place;
use crate::numbers::Random;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

/// What the command line says.
#[derive(Parser)]
pub struct Options {
    /// Where kernels run: `cpu`, `cuda`, `cuda:1`, `sim`, `sim 8.6`; several times for several
    #[arg(long, value_name = "NAME")]
    pub device: Vec<Place>,
    /// Only cases of this family, where there are families; several times for several
    #[arg(long, value_name = "NAME")]
    pub family: Vec<String>,
    /// Only cases whose name contains this text; several times for any of several
    #[arg(long, value_name = "NAME")]
    pub filter: Vec<String>,
    /// The same, as `cargo test NAME` says it
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Runs this number of cases, chosen at random
    #[arg(long, value_name = "COUNT")]
    pub sample: Option<usize>,
    /// Runs a part of the cases: `2/4` is the second of four
    #[arg(long, value_name = "PART/PARTS", value_parser = shard)]
    pub shard: Option<(usize, usize)>,
    /// Where chance begins: a number, or `random`, which prints the number that repeats the run
    #[arg(long, default_value = "1", value_parser = seed)]
    pub seed: u64,
    /// Runs each case from this number of seeds, where the seed decides something
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub seeds: u64,
    /// Prints the names of the cases and runs none
    #[arg(long)]
    pub list: bool,
    /// Options of other tests, which `cargo test` hands to all
    #[arg(long, hide = true)]
    nocapture: bool,
    #[arg(long, hide = true)]
    quiet: bool,
    #[arg(long, hide = true)]
    test_threads: Option<usize>,
}

/// A part and the number of parts, from 1.
fn shard(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    parsed
        .filter(|&(part, parts)| 1 <= part && part <= parts)
        .ok_or("expected a part and the number of parts, as in `1/4`".into())
}

/// A seed, or one of the system's random numbers.
fn seed(text: &str) -> Result<u64, String> {
    match text {
        "random" => Ok(RandomState::new().build_hasher().finish()),
        _ => text.parse().map_err(|_| "expected a number, or `random`".into()),
    }
}

impl Options {
    /// Reads the command line of a test that is about this. Without `--device` its cases run on these devices.
    pub fn read(about: &'static str, devices: &'static [&'static str]) -> Options {
        let command = Options::command().about(about);
        let command =
            if devices.is_empty() { command } else { command.mut_arg("device", |arg| arg.default_values(devices)) };
        let read = |matches: &ArgMatches| Options::from_arg_matches(matches);
        read(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }

    /// Whether a name or a part of one is given.
    pub fn names_cases(&self) -> bool {
        !self.filter.is_empty() || !self.names.is_empty()
    }

    /// Whether devices or cases are chosen.
    pub fn selects(&self) -> bool {
        let parts = self.sample.is_some() || self.shard.is_some();
        parts || self.names_cases() || !self.device.is_empty() || !self.family.is_empty()
    }

    /// The seeds of each case.
    pub fn seeds(&self) -> Range<u64> {
        self.seed..self.seed.saturating_add(self.seeds)
    }

    /// The cases that the options ask for, in their order.
    pub fn select<'a, C: Case>(&self, cases: &'a [C]) -> Vec<&'a C> {
        let is_of = |family: &str| self.family.is_empty() || self.family.iter().any(|of| of == family);
        let is_named = |name: &str| self.filter.iter().chain(&self.names).any(|text| name.contains(text.as_str()));
        let is_asked = |case: &&C| is_of(case.family()) && (!self.names_cases() || is_named(case.name()));
        let mut selected: Vec<&C> = cases.iter().filter(is_asked).collect();
        if let Some(count) = self.sample {
            selected = sample(selected, count, self.seed);
        }
        if let Some((part, parts)) = self.shard {
            let mut number = 0..;
            selected.retain(|_| number.next().is_some_and(|n: usize| n % parts == part - 1));
        }
        selected
    }
}

/// This number of items, in their order.
pub fn sample<T>(mut items: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut chosen: Vec<bool> = (0..items.len()).map(|i| i < count).collect();
    Random::new(seed).shuffle(&mut chosen);
    let mut chosen = chosen.into_iter();
    items.retain(|_| chosen.next().unwrap_or(false));
    items
}
