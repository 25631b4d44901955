//! `compare`: ours and the peers, interleaved in one run, as a table.

use crate::case::{Case, cases};
use crate::coordinator::{self, Beside, Ready, Schedule};
use crate::kernels::INPUTS;
use crate::verdicts::{self, Measured};
use crate::{Common, Outcome, write_json};
use clap::Args;
use serde::Serialize;

/// Options of `compare`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    schedule: Schedule,
    /// Only cases whose name contains one of these texts, separated by commas, and the copies they are measured by
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
}

/// A run as JSON.
#[derive(Serialize)]
struct Run<'a> {
    sides: &'a [Ready],
    seed: u64,
    blocks: usize,
    warmup: u32,
    reps: u32,
    flush_mib: u32,
    /// Distribution of the inputs.
    inputs: &'static str,
    /// Of each block, as `nvidia-smi` prints [`crate::state::FIELDS`]; empty without it.
    gpu_state: &'a [String],
    cases: &'a [Case],
    entries: &'a [Measured],
    rows: &'a [verdicts::Row],
    problems: &'a [String],
}

/// Runs the comparison.
///
/// # Errors
/// If there is no device, a side failed, or a result is wrong. What could be measured is printed and written before that.
pub fn compare(options: &Options) -> Outcome {
    let Options { common, schedule, filter } = options;
    let cases = cases(common.n as usize / 64 * 64, filter);
    if cases.is_empty() {
        return Err(format!("no case is called so: {}", filter.join(", ")).into());
    }
    let measured = coordinator::measure(common, schedule, &cases, Beside::default())?;
    let rows = verdicts::rows(&cases, &measured.entries);
    measured.print_conditions(common, schedule);
    println!("\n{}", verdicts::render(&rows));
    let run = Run {
        sides: &measured.sides,
        seed: measured.seed,
        blocks: schedule.blocks,
        warmup: schedule.warmup,
        reps: schedule.reps,
        flush_mib: common.flush_mib,
        inputs: INPUTS,
        gpu_state: &measured.gpu_state,
        cases: &cases,
        entries: &measured.entries,
        rows: &rows,
        problems: &measured.problems,
    };
    write_json(common.json.as_ref(), &run)?;
    measured.outcome()
}
