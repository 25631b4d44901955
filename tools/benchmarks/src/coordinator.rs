//! The coordinator: every implementation of every case, in shuffled order, one at a time.

use crate::case::Case;
use crate::kernels::INPUTS;
use crate::protocol::{Entry, Reply, Request, Work};
use crate::side::Side;
use crate::verdicts::{Check, Measured};
use crate::{Common, Outcome, state, stats, users};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::process::Command;
use triton::Device;

/// Seconds in which a side makes its inputs; the peers also import, compile, and try configurations.
const PREPARE: u64 = 300;

/// Seconds for any other request.
const WORK: u64 = 30;

/// How often everything is measured, and beside what.
#[derive(Args, Clone, Debug)]
pub struct Schedule {
    /// The peers: a program with its arguments, such as `python3 peers.py`; last on the command line
    #[arg(long, num_args = 1.., allow_hyphen_values = true)]
    peers: Vec<String>,
    /// Rounds over everything, each in an order of its own
    #[arg(long, default_value_t = 11)]
    pub blocks: usize,
    /// Runs before the repetitions of a block
    #[arg(long, default_value_t = 3)]
    pub warmup: u32,
    /// Timed repetitions of a block
    #[arg(long, default_value_t = 15)]
    pub reps: u32,
}

/// What a side said of itself.
#[derive(Serialize)]
pub struct Ready {
    side: &'static str,
    device: String,
    versions: BTreeMap<String, String>,
    memory_mib: u64,
}

/// What was found.
#[derive(Default)]
pub struct Measurement {
    /// Our side, and the peers if they could be started.
    pub sides: Vec<Ready>,
    /// Of inputs and order.
    pub seed: u64,
    /// Of each block, as `nvidia-smi` prints [`state::FIELDS`]; empty without it.
    pub gpu_state: Vec<String>,
    /// Every implementation that a side has.
    pub entries: Vec<Measured>,
    /// What went wrong, as sentences.
    pub problems: Vec<String>,
}

/// What is measured beside ours.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Of the peers' implementations these, if it names any, else what they have by default.
    pub wanted: &'a [&'a str],
    /// Our products as the rows of the library's table choose, as the entry [`ROWS`].
    pub rows: bool,
}

/// The entry of what the rows of the library's table choose.
pub const ROWS: &str = "rows";

/// Measures cases on all sides.
///
/// # Errors
/// If there is no device, or our side failed.
pub fn measure(common: &Common, schedule: &Schedule, cases: &[Case], beside: Beside<'_>) -> Outcome<Measurement> {
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    run(common, schedule, &names, beside, |seed| Request::Prepare {
        cases: cases.to_vec(),
        users: Vec::new(),
        seed,
        flush_mib: common.flush_mib,
        entries: beside.wanted.iter().map(|entry| entry.to_string()).collect(),
    })
}

/// Measures what users write, on all sides.
///
/// # Errors
/// If there is no device, or our side failed.
pub fn measure_users(common: &Common, schedule: &Schedule, cases: &[users::Case]) -> Outcome<Measurement> {
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    run(common, schedule, &names, Beside::default(), |seed| Request::Prepare {
        cases: Vec::new(),
        users: cases.to_vec(),
        seed,
        flush_mib: common.flush_mib,
        entries: Vec::new(),
    })
}

/// Measures what a request prepares: cases of these names.
fn run(
    common: &Common,
    schedule: &Schedule,
    names: &[&str],
    beside: Beside<'_>,
    prepare: impl Fn(u64) -> Request,
) -> Outcome<Measurement> {
    let seed = common.seed.unwrap_or_else(rand::random);
    // Before the peers, who take longer to notice.
    common.device.parse::<Device>()?;

    let ours = || -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--device", &common.device]);
        Ok(command)
    };
    let mut commands = vec![("ours", ours()?)];
    if beside.rows {
        let mut rows = ours()?;
        rows.args(["--rows", "--entry", ROWS]);
        commands.push((ROWS, rows));
    }
    if let Some((program, args)) = schedule.peers.split_first() {
        let mut peers = Command::new(program);
        peers.args(args);
        commands.push(("peers", peers));
    }
    let prepare = prepare(seed);
    let (mut sides, mut ready, mut entries, mut problems) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, command) in commands {
        match start(name, command, &prepare, names) {
            Ok((side, said, list)) => {
                let versions: Vec<String> = said.versions.iter().map(|(k, v)| format!("{k} {v}")).collect();
                println!("{name}: {} ({}), {} MiB of device memory", said.device, versions.join(", "), said.memory_mib);
                entries.extend(list.into_iter().map(|entry| measured(sides.len(), entry)));
                sides.push(Restartable { side, prepare: &prepare, restarts: 1, works: None });
                ready.push(said);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !ready.iter().any(|side| side.side == "ours") {
        return Err(problems.join("\n").into());
    }

    problems.extend(check(&mut sides, &mut entries));
    let mut gpu_state = Vec::new();
    let correct: Vec<usize> = (0..entries.len()).filter(|&i| entries[i].is_correct()).collect();
    for order in stats::plan(correct.len(), schedule.blocks, &mut SmallRng::seed_from_u64(seed)) {
        for i in order {
            let entry = &mut entries[correct[i]];
            if entry.failed {
                continue;
            }
            let request = Request::Time { work: entry.work.clone(), warmup: schedule.warmup, reps: schedule.reps };
            match sides[entry.side].ask(&request) {
                Ok(Reply::Timed(ms)) => entry.ms.push(ms),
                Ok(_) => problems.push(format!("unexpected reply to {request:?}")),
                Err(problem) => {
                    entry.failed = true;
                    problems.push(format!("{} in `{}`: {problem}", entry.work.entry, entry.work.case));
                }
            }
        }
        gpu_state.extend(state::now());
    }
    problems.extend(check(&mut sides, &mut entries));
    let mut seen = HashSet::new();
    problems.retain(|problem| seen.insert(problem.clone()));

    Ok(Measurement { sides: ready, seed, gpu_state, entries, problems })
}

impl Measurement {
    /// Prints how it was measured: what stands above a table.
    pub fn print_conditions(&self, common: &Common, schedule: &Schedule) {
        println!(
            "\nseed {}, {} blocks of {} repetitions, {} MiB flushed",
            self.seed, schedule.blocks, schedule.reps, common.flush_mib
        );
        println!("inputs: {INPUTS}");
        if let Some(summary) = state::summary(&self.gpu_state) {
            println!("after each block: {summary}");
        }
        if let Some(last) = self.gpu_state.last() {
            println!("after the last block ({}): {last}", state::FIELDS);
        }
    }

    /// Nothing, or everything that went wrong.
    ///
    /// # Errors
    /// If anything did.
    pub fn outcome(&self) -> Outcome {
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems.join("\n").into()) }
    }
}

/// Starts a side and lets it make its inputs.
fn start(
    name: &'static str,
    command: Command,
    prepare: &Request,
    names: &[&str],
) -> Result<(Side, Ready, Vec<Entry>), String> {
    let mut side = Side::start(name, command)?;
    let reply = side.ask(prepare, PREPARE)?;
    let Reply::Ready { device, versions, entries, memory } = reply else {
        return Err(format!("{name}: unexpected reply to `prepare`"));
    };
    if let Some(unknown) = entries.iter().find(|e| !names.contains(&e.work.case.as_str())) {
        return Err(format!("{name}: there is no case `{}`", unknown.work.case));
    }
    Ok((side, Ready { side: name, device, versions, memory_mib: memory >> 20 }, entries))
}

/// A side that is started anew after a failure from which its process does not recover: a fault on the device, or silence.
struct Restartable<'a> {
    side: Side,
    prepare: &'a Request,
    /// How often still.
    restarts: u32,
    /// An entry that could be checked.
    works: Option<Work>,
}

impl Restartable<'_> {
    fn ask(&mut self, request: &Request) -> Result<Reply, String> {
        let reply = self.side.ask(request, WORK);
        if reply.is_err() {
            self.recover();
        } else if let (Request::Check(work), None) = (request, &self.works) {
            self.works = Some(work.clone());
        }
        reply
    }

    /// Starts anew if what could be checked before no longer can.
    fn recover(&mut self) {
        let Some(works) = self.works.clone() else { return };
        if self.restarts == 0 || self.side.ask(&Request::Check(works), WORK).is_ok() {
            return;
        }
        self.restarts -= 1;
        if let Err(problem) = self.side.restart().and_then(|()| self.side.ask(self.prepare, PREPARE)) {
            eprintln!("started anew, but: {problem}");
        }
    }
}

fn measured(side: usize, entry: Entry) -> Measured {
    Measured { work: entry.work, note: entry.note, side, ms: Vec::new(), checks: Vec::new(), failed: false }
}

/// Checks every entry that did not fail, and says what is wrong.
fn check(sides: &mut [Restartable<'_>], entries: &mut [Measured]) -> Vec<String> {
    let mut problems = Vec::new();
    for entry in entries.iter_mut().filter(|entry| !entry.failed) {
        let Work { case, entry: name } = &entry.work;
        let reply = match sides[entry.side].ask(&Request::Check(entry.work.clone())) {
            Ok(reply) => reply,
            Err(problem) => {
                entry.failed = true;
                problems.push(format!("{name} in `{case}`: {problem}"));
                continue;
            }
        };
        let Reply::Checked { error, bound, stray } = reply else {
            entry.failed = true;
            problems.push(format!("unexpected reply to the check of {name} in `{case}`"));
            continue;
        };
        let check = Check { error, bound, stray };
        if !check.passes() {
            let error = check.error.map_or("not a number".to_string(), |e| format!("{e:.2e}"));
            problems.push(format!(
                "WRONG: {name} in `{case}`: relative error {error}, at most {bound:.2e} expected; {stray} elements beyond the result written"
            ));
        }
        entry.checks.push(check);
    }
    problems
}
