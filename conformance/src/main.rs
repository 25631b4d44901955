//! Runs the cases on a device: a line for each that fails, with the first element that is wrong.
//!
//! On the simulator the seed decides the order of programs and warps too. Each case begins anew with it, so that
//! `--filter NAME --seed S` repeats what was found, and `--seeds N` tries N orders of each.

use clap::Parser;
use conformance::case::{Case, Failure};
use std::ops::Range;
use std::process::ExitCode;
use triton::sim::SimOptions;
use triton::{Device, Error, Stream};

/// Checks every operation on every element type against references of its own
#[derive(Parser)]
#[command(about)]
struct Options {
    /// Where kernels run: `cpu`, `cuda`, `cuda:1`, `sim`
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Only cases whose name contains this text; several times for any of several
    #[arg(long, value_name = "NAME")]
    filter: Vec<String>,
    /// Runs this many of the cases, chosen at random
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,
    /// The random seed; it is printed, so that a run can be repeated
    #[arg(long)]
    seed: Option<u64>,
    /// On the simulator: runs each case in this many orders
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    seeds: u64,
    /// Prints the names of the cases and runs none
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut cases = conformance::cases();
    cases.retain(|case| {
        options.filter.is_empty() || options.filter.iter().any(|text| case.name.contains(text.as_str()))
    });
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    if let Some(count) = options.sample {
        sample(&mut cases, count, seed);
    }
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    }
    let device = options.device.parse().map(|device: Device| match device.is_sim() {
        true => Device::sim_with(SimOptions::new().with_seed(seed)),
        false => device,
    });
    if options.sample.is_some() || device.as_ref().is_ok_and(Device::is_sim) {
        println!("conformance: {} cases, --seed {seed}", cases.len());
    }
    match device.and_then(|device| device.stream()) {
        Ok(stream) => run(&cases, &stream, seed..seed.saturating_add(options.seeds)),
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Keeps this many cases, in their order.
fn sample(cases: &mut Vec<Case>, count: usize, seed: u64) {
    let mut chosen: Vec<bool> = (0..cases.len()).map(|i| i < count).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut chosen);
    let mut chosen = chosen.into_iter();
    cases.retain(|_| chosen.next().unwrap_or(false));
}

/// A case on a device; on the simulator once with each seed, on a stream of its own, whose launches do not depend on the cases
/// before.
fn one(case: &Case, stream: &Stream, seeds: Range<u64>) -> Result<(), Failure> {
    if !stream.device().is_sim() {
        return case.run(stream);
    }
    for seed in seeds {
        case.run(&Device::sim_with(SimOptions::new().with_seed(seed)).stream()?)?;
    }
    Ok(())
}

fn run(cases: &[Case], stream: &Stream, seeds: Range<u64>) -> ExitCode {
    let (mut passed, mut failed) = (0, 0);
    for (case, left) in cases.iter().zip((0..cases.len()).rev()) {
        match one(case, stream, seeds.clone()) {
            Ok(()) => passed += 1,
            Err(failure) => {
                failed += 1;
                println!("FAILED {}: {failure}", case.name);
                // A device that a kernel has broken runs nothing more in this process.
                if let Failure::Device(Error::Device { .. }) = failure {
                    println!("FAILED {left} cases after this one, which were not run: the device is lost");
                    failed += left;
                    break;
                }
            }
        }
    }
    println!("conformance: {passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
