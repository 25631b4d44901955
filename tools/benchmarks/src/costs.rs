//! The constants of the compiler's cost model ([`triton_core::layout::cost`]), measured: small kernels in PTX, timed by the
//! clock of the multiprocessor.
//!
//! A kernel repeats a loop of copies of some instructions, once with some copies and once with twice as many. The difference of
//! their cycles is that of the copies: what starts, loops and ends is in both.

mod cases;
mod text;

use crate::raw::{self, Bare, Code, Parameters};
use crate::stats::{Spread, median, spread};
use crate::{Outcome, table, write_json};
use cases::Case;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use text::{Bounds, Piece};
use triton::{Buffer, Device, Stream};

/// Options of `costs`.
#[derive(Args, Debug)]
pub struct Options {
    /// Timed launches of each kernel
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    launches: u32,
    /// Iterations of a loop
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(i32).range(2..))]
    iterations: i32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Launches that load code and warm up.
const WARMUP: u32 = 2;

/// What was measured.
#[derive(Serialize)]
struct Row {
    group: &'static str,
    what: String,
    /// Warps of a block.
    warps: u32,
    /// Resident blocks of a multiprocessor.
    blocks: u32,
    cycles: Spread,
    /// Cycles less those of the work beside it.
    added: Option<Spread>,
    /// What the cost model says of `cycles`.
    model: Option<f64>,
    constants: BTreeMap<&'static str, f64>,
}

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    device: String,
    iterations: i32,
    rows: Vec<Row>,
}

/// Measures all of them.
///
/// # Errors
/// If there is no GPU, a launch fails, or blocks that have to run together do not.
pub fn costs(options: &Options) -> Outcome {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let zeros = stream.zeros::<u32>(text::FOOTPRINT as usize / 4)?;
    let sink = stream.zeros::<u32>(1)?;
    let shared = raw::shared_bytes(&device)?;
    let bench = Bench { options, multiprocessors: device.multiprocessors(), shared, stream, zeros, sink };
    println!("cycles of one multiprocessor of {device}; a warp instruction's, a barrier's or a round trip's\n");
    let (mut rows, mut failed) = (Vec::new(), 0);
    for case in cases::all() {
        match bench.row(case) {
            Ok(row) => rows.push(row),
            Err(error) => {
                eprintln!("{error}");
                failed += 1;
            }
        }
    }
    for group in rows.chunk_by(|a, b| a.group == b.group) {
        println!("{}\n\n{}", group[0].group, render(group));
    }
    write_json(options.json.as_ref(), &Results { device: device.to_string(), iterations: options.iterations, rows })?;
    if failed > 0 {
        return Err(format!("{failed} measurements failed").into());
    }
    Ok(())
}

fn render(rows: &[Row]) -> String {
    let cells = |row: &Row| {
        let constants: Vec<String> = row.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let cycles = |value: f64| format!("{value:.2}");
        vec![
            row.what.clone(),
            constants.join(", "),
            row.warps.to_string(),
            row.blocks.to_string(),
            cycles(row.cycles.median),
            format!("{:.2} … {:.2}", row.cycles.min, row.cycles.max),
            row.added.map_or_else(String::new, |added| cycles(added.median)),
            row.model.map_or_else(String::new, cycles),
        ]
    };
    let head = ["what", "constants", "warps", "blocks", "cycles", "range", "added", "model"];
    table::render(&head, 2, &rows.iter().map(cells).collect::<Vec<_>>())
}

/// Where it is measured.
struct Bench<'a> {
    options: &'a Options,
    multiprocessors: u32,
    /// Bytes of shared memory of a multiprocessor.
    shared: u32,
    stream: Stream,
    zeros: Buffer<u32>,
    sink: Buffer<u32>,
}

impl Bench<'_> {
    fn row(&self, case: Case) -> Outcome<Row> {
        let cycles = self.cycles(&case, &case.piece)?;
        let without = case.without.as_ref().map(|piece| self.cycles(&case, piece)).transpose()?;
        let added = without.map(|without| cycles.iter().zip(without).map(|(with, without)| with - without).collect());
        let spread = |values: Vec<f64>| spread(&values).ok_or("`--launches` is at least 1");
        let Case { group, what, warps, blocks, model, constants, .. } = case;
        let constants = constants.into_iter().collect();
        let added = added.map(spread).transpose()?;
        Ok(Row { group, what, warps, blocks, cycles: spread(cycles)?, added, model, constants })
    }

    /// Cycles of each launch for one of what is counted.
    fn cycles(&self, case: &Case, piece: &Piece) -> Outcome<Vec<f64>> {
        let at = |e: String| format!("{}, {} warps, {} blocks: {e}", case.what, case.warps, case.blocks);
        let blocks = self.multiprocessors * case.blocks;
        let times = self.stream.zeros::<u64>(3 * blocks as usize)?;
        // One block more has not enough.
        let shared = self.shared / (case.blocks + 1);
        if shared < piece.shared {
            return Err(at(format!("needs {} bytes of shared memory of {shared}", piece.shared)).into());
        }
        let bounds = Bounds { threads: 32 * case.warps, blocks: case.blocks };
        let copies = piece.copies();
        let load = |copies| {
            let text = text::kernel(piece, copies, bounds);
            let code =
                Code { text: text.as_str().into(), entry: text::ENTRY, grid: blocks, threads: bounds.threads, shared };
            let iterations = self.options.iterations.cast_unsigned();
            let words = [times.address(), self.zeros.address(), self.sink.address(), iterations.into()];
            Bare::new(&code, &self.stream, Parameters::of(&words)).map_err(at)
        };
        let (mut short, mut long) = (load(copies)?, load(2 * copies)?);
        let mut measured = Vec::new();
        for launch in 0..WARMUP + self.options.launches {
            let timed = |bare: &mut Bare| -> Outcome<f64> {
                bare.launch().map_err(at)?;
                let times = self.stream.download(&times)?;
                Ok(span(&times, case.blocks as usize).map_err(at)?)
            };
            let difference = timed(&mut long)? - timed(&mut short)?;
            if launch >= WARMUP {
                let repetitions = f64::from(copies) * f64::from(self.options.iterations);
                measured.push(difference / repetitions / f64::from(case.count));
            }
        }
        Ok(measured)
    }
}

/// Median over multiprocessors of the cycles from the start of the first of its blocks to the end of the last. Those that did not
/// run all of their blocks at once are left out, if they are few.
fn span(times: &[u64], blocks: usize) -> Result<f64, String> {
    let mut each: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for block in times.chunks_exact(3) {
        each.entry(block[2]).or_default().push((block[0], block[1]));
    }
    let mut spans = Vec::new();
    for of_blocks in each.values() {
        let starts = || of_blocks.iter().map(|(start, _)| *start);
        let ends = || of_blocks.iter().map(|(_, end)| *end);
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        if of_blocks.len() == blocks && ends().min().unwrap_or(0) > last {
            spans.push((ends().max().unwrap_or(0) - first) as f64);
        }
    }
    if 4 * spans.len() < 3 * each.len() {
        return Err(format!("{} of {} multiprocessors ran {blocks} blocks at once", spans.len(), each.len()));
    }
    median(&spans).ok_or_else(|| "no block was launched".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use triton_sim::{Arg, Launch, Memory, Module};

    /// Warp instructions of a block; everything else about it is right.
    fn run(case: &Case, piece: &Piece, copies: u32, iterations: u32) -> u64 {
        let bounds = Bounds { threads: 32 * case.warps, blocks: case.blocks };
        // The simulator has no clock.
        let text = text::kernel(piece, copies, bounds).replace("%clock64", "7");
        let module = Module::parse(&text).unwrap_or_else(|e| panic!("{}: {e}:\n{text}", case.what));
        let mut memory = Memory::new();
        let mut filled = |bytes: u32| {
            let address = memory.alloc(u64::from(bytes)).expect("memory");
            memory.write(address, &vec![0; bytes as usize]).expect("it was allocated");
            Arg::Bits(address)
        };
        let args = vec![filled(24), filled(text::FOOTPRINT), filled(4), Arg::Bits(u64::from(iterations))];
        let launch = Launch { shared: piece.shared, args, ..Launch::new(text::ENTRY, [1; 3], [bounds.threads, 1, 1]) };
        let outcome = module.launch(&mut memory, &launch, &Default::default()).expect("a launch");
        assert!(outcome.reports.is_empty(), "{}: {:?}\n{text}", case.what, outcome.reports);
        let Arg::Bits(times) = launch.args[0] else { unreachable!("an address") };
        assert_eq!(memory.read(times, 8).expect("the clock"), 7u64.to_le_bytes(), "{}", case.what);
        outcome.statistics.instructions
    }

    #[test]
    fn texts_run_without_faults_and_repeat_what_is_counted() {
        for case in cases::all() {
            for piece in [Some(&case.piece), case.without.as_ref()].into_iter().flatten() {
                let copies = piece.copies();
                assert!(copies >= 2 && copies.is_power_of_two(), "{}", case.what);
                let [short, long] = [copies, 2 * copies].map(|copies| run(&case, piece, copies, 2));
                let counted = u64::from(2 * copies * case.count / case.blocks);
                assert!(long - short >= counted, "{}: {long} - {short}, not {counted} more", case.what);
            }
        }
    }

    #[test]
    fn spans() {
        let times = [10, 50, 0, 100, 140, 1, 12, 60, 0, 90, 150, 1];
        assert_eq!(span(&times, 2), Ok(55.0));
        assert!(span(&times, 1).is_err(), "there are two");
        assert!(span(&[10, 20, 0, 20, 30, 0], 2).is_err(), "one after the other");
    }
}
