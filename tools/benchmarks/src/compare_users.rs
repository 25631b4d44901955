//! `users`: kernels as a newcomer from Triton writes them, Triton's tutorials above all, by pointers and by views. Beside Triton's own and
//! PyTorch, as `compare` measures.

mod ratios;

use crate::coordinator::{self, Ready, Schedule};
use crate::kernels::INPUTS;
use crate::users::{Case, cases};
use crate::verdicts::Measured;
use crate::{Common, Outcome, write_json};
use clap::Args;
use ratios::Line;
use serde::Serialize;

/// Options of `users`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    schedule: Schedule,
    /// Only rows whose name contains one of these texts, separated by commas
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
    gpu_state: &'a [String],
    cases: &'a [Case],
    entries: &'a [Measured],
    rows: &'a [Line],
    problems: &'a [String],
}

/// Measures and prints the table.
///
/// # Errors
/// If there is no device, our side failed, or a result is wrong. What could be measured is printed and written before that.
pub fn compare_users(options: &Options) -> Outcome {
    let Options { common, schedule, filter } = options;
    let cases = cases(common.n as usize / 64 * 64, filter);
    if cases.is_empty() {
        return Err(format!("no row is called so: {}", filter.join(", ")).into());
    }
    let measured = coordinator::measure_users(common, schedule, &cases)?;
    let lines: Vec<Line> = cases.iter().map(|case| Line::new(case, &measured.entries)).collect();
    measured.print_conditions(common, schedule);
    println!("\n{}\n{}", ratios::render(&lines), ratios::instances(&measured.entries));
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
        rows: &lines,
        problems: &measured.problems,
    };
    write_json(common.json.as_ref(), &run)?;
    measured.outcome()
}
