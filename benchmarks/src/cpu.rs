//! Elementwise addition on the CPU device.

use crate::case::{Case, Op};
use crate::serve::Side;
use crate::{Outcome, stats, write_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use triton::Device;

/// Options of `cpu`.
#[derive(Args, Debug)]
pub struct Options {
    /// Elements
    #[arg(long, default_value_t = 100_000_000)]
    n: u32,
    /// Timed repetitions
    #[arg(long, default_value_t = 3)]
    reps: u32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Times of one case.
#[derive(Serialize)]
struct Result {
    case: Case,
    threads: u32,
    ms: Vec<f64>,
}

/// Times the additions.
///
/// # Errors
/// Of the CPU device.
pub fn cpu(options: &Options) -> Outcome {
    let device = Device::cpu();
    let cases: Vec<Case> = crate::case::cases(options.n as usize / 64 * 64, &[])
        .into_iter()
        .filter(|case| case.op == Op::Add && case.offset == 0 && case.n % 16 == 0)
        .collect();
    let mut side = Side::new(&device, cases.clone(), rand::random(), 1)?;
    let mut results = Vec::new();
    for case in cases {
        let ms = side.time_choice(&case, crate::kernels::shipped(case.dtype), 0, options.reps)?;
        let median = stats::median(&ms).ok_or("`--reps` is at least 1")?;
        println!(
            "CPU device, {} threads: {} of {} elements in {median:.0} ms, {:.2} GB/s, {:.1} ns an element",
            device.multiprocessors(),
            case.name,
            case.n,
            case.rate(median),
            median * 1e6 / case.n as f64
        );
        results.push(Result { case, threads: device.multiprocessors(), ms });
    }
    write_json(options.json.as_ref(), &results)
}
