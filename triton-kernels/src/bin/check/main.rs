//! Checks every operation of the library on a device: `cargo run --release -p triton-kernels --features check --bin check -- --device cuda`.

#![cfg_attr(
    not(all(feature = "gemm", feature = "rows", feature = "conv")),
    allow(dead_code, unused_imports, reason = "one family does not use all of the harness")
)]

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "contract")]
mod contract;
#[cfg(feature = "conv")]
mod conv;
// Of all families.
#[cfg(all(
    feature = "gemm",
    feature = "rows",
    feature = "conv",
    feature = "attention",
    feature = "sparse",
    feature = "contract"
))]
mod edge;
#[cfg(not(all(
    feature = "gemm",
    feature = "rows",
    feature = "conv",
    feature = "attention",
    feature = "sparse",
    feature = "contract"
)))]
mod edge {
    pub const FAMILIES: &[crate::harness::Family] = &[];
    pub const ON_GPU: &[crate::harness::Family] = &[];
}
#[cfg(all(
    feature = "gemm",
    feature = "rows",
    feature = "conv",
    feature = "attention",
    feature = "sparse",
    feature = "contract"
))]
mod graphs;
#[cfg(not(all(
    feature = "gemm",
    feature = "rows",
    feature = "conv",
    feature = "attention",
    feature = "sparse",
    feature = "contract"
)))]
mod graphs {
    pub const FAMILIES: &[crate::harness::Family] = &[];
}
// Its gradients and sums are compared with those of rows.
#[cfg(all(feature = "gemm", feature = "rows"))]
mod gemm;
mod harness;
#[cfg(feature = "rows")]
mod rows;
#[cfg(feature = "sparse")]
mod sparse;

use clap::Parser;
use harness::{Case, Family};
use indicatif::{ProgressBar, ProgressStyle};
use std::process::ExitCode;
use triton::Device;

/// All families.
const FAMILIES: &[Family] = &[
    #[cfg(all(feature = "gemm", feature = "rows"))]
    gemm::FAMILY,
    #[cfg(feature = "rows")]
    rows::FAMILY,
    #[cfg(feature = "conv")]
    conv::FAMILY,
    #[cfg(feature = "attention")]
    attention::FAMILY,
    #[cfg(feature = "sparse")]
    sparse::FAMILY,
    #[cfg(feature = "contract")]
    contract::FAMILY,
];

/// Checks operations of the library against references in `f64`.
#[derive(Parser)]
struct Options {
    /// The device: cpu, sim, cuda, cuda:1
    #[arg(long, default_value = "best")]
    device: String,
    /// Only the family of this name
    #[arg(long)]
    family: Option<String>,
    /// Only cases whose name contains this
    #[arg(long)]
    filter: Option<String>,
    /// Only this many cases, at random
    #[arg(long)]
    sample: Option<usize>,
    /// Seed of the cases' numbers. Default: another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Prints the names of the cases and runs nothing
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    let asked = |family: &&Family| options.family.as_ref().is_none_or(|name| name == family.name);
    let device: Device = options.device.parse()?;
    let large = if device.is_cpu() || device.is_sim() { &[] } else { edge::ON_GPU };
    let families = || FAMILIES.iter().chain(edge::FAMILIES).chain(graphs::FAMILIES).chain(large);
    let mut cases: Vec<Case> = families().filter(asked).flat_map(|family| (family.cases)()).collect();
    cases.retain(|case| options.filter.as_ref().is_none_or(|text| case.name().contains(text)));
    if cases.is_empty() {
        let families: Vec<&str> = families().map(|family| family.name).collect();
        return Err(format!("no case is called so; families: {}", families.join(", ")).into());
    }
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    if let Some(count) = options.sample {
        cases = harness::sample(cases, count, seed);
    }
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name()));
        return Ok(true);
    }
    println!("{device}, seed {seed}");
    let progress = ProgressBar::new(cases.len() as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed}")?);
    let report = harness::run(&device, &cases, seed, || progress.inc(1))?;
    progress.finish_and_clear();
    for (name, failure) in &report.failed {
        println!("{name}: {}", failure.0);
    }
    if report.without_code > 0 {
        println!("{} cases ask for instances that the device has no code of", report.without_code);
    }
    println!("check: {} passed, {} failed", report.passed, report.failed.len());
    Ok(report.failed.is_empty())
}
