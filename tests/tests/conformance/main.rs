//! Every operation of the language on every element type, checked against references of its own on any device.
//!
//! A [`case::Case`] is an operation on an element type in one configuration: shape, warps, and how memory lies, which decides
//! among the images of a kernel. It runs one launch over hundreds of elements or more and looks at all memory that the launch was
//! given, also around it. Integers, moves of data and IEEE operations must be right to the bit (any NaN is any other); of other
//! functions each row says how many units in the last place they may be off. There is no tolerance besides.
//!
//! References are integers of 128 bits and arithmetic on floats from its definition ([`float`]), and `f64` for functions with a
//! bound: nothing of the compiler computes what is expected of it.
//!
//! | to add | where |
//! |---|---|
//! | a function of one float | a row of [`functions`] |
//! | an operator or an exact function | a row of [`operators`] |
//! | a reduction, an atomic update | a row of [`reductions`], [`atomics`] |
//! | a scan | an output of [`scans`] |
//!
//! Without options, as by `cargo test`, everything runs on the CPU and on the simulator, from one seed: a change passes or fails, whatever
//! the day. `cargo xtask seeds` runs others. On the simulator the seed decides the order of programs and warps too. Each case begins anew
//! with it, so that `--filter NAME --seed S` repeats what was found, and `--seeds N` tries N orders of each.

#![allow(unsafe_code, reason = "kernels over raw pointers; each launch says why its pointers are in bounds")]

mod atomics;
mod case;
mod casts;
mod checks;
mod closures;
mod control;
mod elementwise;
mod float;
mod functions;
mod gathers;
mod inputs;
mod list;
mod long;
mod memory;
mod operators;
mod pointers;
mod products;
mod reductions;
mod reference;
mod scans;
mod shapes;
mod value;
mod views;

use case::{Case, Failure};
use clap::Parser;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use triton::metadata::Target;
use triton::sim::SimOptions;
use triton::{Device, Error, Stream};
use triton_tests::numbers::Random;
use triton_tests::parallel;

/// Checks every operation on every element type against references of its own
#[derive(Parser)]
#[command(about)]
struct Options {
    /// Where kernels run: `cpu`, `cuda`, `cuda:1`, `sim`; several times for several
    #[arg(long, value_name = "NAME", default_values = ["cpu", "sim"])]
    device: Vec<Device>,
    /// Only cases whose name contains this text; several times for any of several
    #[arg(long, value_name = "NAME")]
    filter: Vec<String>,
    /// The same, as `cargo test NAME` says it
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Runs this number of cases, chosen at random
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,
    /// Runs a part of the cases: `2/4` is the second of four
    #[arg(long, value_name = "PART/PARTS", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Where chance begins: a number, or `random`, which prints the number that repeats the run
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// On the simulator: runs each case in this number of orders
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    seeds: u64,
    /// Prints the names of the cases and runs none
    #[arg(long)]
    list: bool,
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

fn main() -> ExitCode {
    let options = Options::parse();
    let mut cases = list::cases();
    let names: Vec<&String> = options.filter.iter().chain(&options.names).collect();
    cases.retain(|case| names.is_empty() || names.iter().any(|text| case.name.contains(text.as_str())));
    if let Some(count) = options.sample {
        sample(&mut cases, count, options.seed);
    }
    if let Some((part, parts)) = options.shard {
        let mut number = 0..;
        cases.retain(|_| number.next().is_some_and(|n: usize| n % parts == part - 1));
    }
    if options.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    }
    // `cargo test NAME` is of other tests.
    if cases.is_empty() && !options.names.is_empty() {
        return ExitCode::SUCCESS;
    }
    if names.is_empty() {
        checks::run();
    }
    let seeds = options.seed..options.seed.saturating_add(options.seeds);
    let failed = options.device.iter().filter(|device| !run(&cases, device, &seeds)).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Keeps this number of cases, in their order.
fn sample(cases: &mut Vec<Case>, count: usize, seed: u64) {
    let mut chosen: Vec<bool> = (0..cases.len()).map(|i| i < count).collect();
    Random::new(seed).shuffle(&mut chosen);
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
        case.run(&Device::sim_with(SimOptions::from_env()?.with_seed(seed)).stream()?)?;
    }
    Ok(())
}

/// Runs the cases on a device, with a line for each that fails, and says whether all have passed.
fn run(cases: &[Case], device: &Device, seeds: &Range<u64>) -> bool {
    println!("conformance on {device}: {} cases, --seed {}", cases.len(), seeds.start);
    // A device that a kernel has broken runs nothing more in this process.
    let (lost, without_code) = (AtomicBool::new(false), AtomicUsize::new(0));
    // Where a target's code does not run, kernels of that target alone do not.
    let runs_all = |capability| Target::ALL.iter().all(|target| target.runs_on(capability));
    let is_older = device.compute_capability().is_some_and(|capability| !runs_all(capability));
    let passes = |case: &Case, stream: &Stream| {
        if lost.load(Ordering::Relaxed) {
            return false;
        }
        let Err(failure) = one(case, stream, seeds.clone()) else { return true };
        if is_older && matches!(failure, Failure::Device(Error::NoImage { .. })) {
            without_code.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        println!("FAILED {}: {failure}", case.name);
        lost.fetch_or(matches!(failure, Failure::Device(Error::Device { .. })), Ordering::Relaxed);
        false
    };
    let passed = if device.is_cpu() || device.is_sim() {
        let told = |error: &Error| eprintln!("conformance: {error}");
        Ok(parallel::map(cases, |case| device.stream().inspect_err(told).is_ok_and(|stream| passes(case, &stream))))
    } else {
        device.stream().map(|stream| cases.iter().map(|case| passes(case, &stream)).collect())
    };
    let passed: Vec<bool> = passed.unwrap_or_else(|error| {
        eprintln!("conformance: {error}");
        Vec::new()
    });
    if lost.into_inner() {
        println!("the device is lost: the cases after this one were not run, and count as failed");
    }
    let without_code = without_code.into_inner();
    if without_code > 0 {
        println!("{without_code} cases are of kernels for newer devices alone");
    }
    let failed = passed.iter().filter(|passed| !**passed).count() + cases.len() - passed.len();
    let passed = cases.len() - failed - without_code;
    println!("conformance: {passed} passed, {failed} failed");
    failed == 0 && passed > 0
}
