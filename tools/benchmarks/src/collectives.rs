//! Collectives and what runs beside them on several GPUs of one host: an all-reduce by size, and a tensor-parallel pair of products, each beside
//! what [`triton_collective::model`] predicts; and what that predicts for more GPUs.
//!
//! Ranks are threads of this process, or, started by a launcher with `--launched`, processes.

use crate::{Outcome, write_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use triton::prelude::*;
use triton_collective::model::Cluster;
use triton_collective::{Communicator, Options as Ranks, Place, Reduce, devices_from, on_all};
use triton_kernels::linear::gemm;
use triton_kernels::parallel::row_linear;

/// Repetitions that are not timed.
const WARMUP: usize = 5;

/// Tokens, and both sides of the two matrices, of the pair.
const PAIR: [usize; 2] = [4096, 8192];

/// How often each of the pair is measured, of which the median counts.
const ROUNDS: usize = 5;

/// In how many parts the sum of the pair is made.
const PARTS: [usize; 5] = [1, 4, 5, 6, 8];

/// Options of `collectives`.
#[derive(Args, Debug)]
pub struct Options {
    /// The first device
    #[arg(long, default_value = "cuda")]
    device: Device,
    /// How many devices, from that one on
    #[arg(long, default_value_t = 2)]
    devices: usize,
    /// This process is one rank: a launcher says which, and where the others are
    #[arg(long)]
    launched: bool,
    /// The largest message, in bytes
    #[arg(long, default_value_t = 1 << 30)]
    most: usize,
    /// Timed repetitions of a large message
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Smaller products: divides the sides of the pair
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    smaller: u32,
    /// File for what was measured, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What was measured on `ranks` devices.
#[derive(Serialize)]
struct Results {
    device: String,
    ranks: usize,
    all_reduce: Vec<Message>,
    pair: Vec<Pair>,
}

#[derive(Serialize)]
struct Message {
    bytes: usize,
    seconds: f64,
    predicted: f64,
}

/// The pair with its sum in a number of parts.
#[derive(Serialize)]
struct Pair {
    parts: usize,
    products: [f64; 2],
    reduction: f64,
    /// The row-parallel product with its sum, alone.
    row: f64,
    seconds: f64,
    predicted: f64,
}

impl Pair {
    /// The longer of products and reduction over the time of all: 1 if the shorter is hidden.
    fn overlap(&self) -> f64 {
        (self.products[0] + self.products[1]).max(self.reduction) / self.seconds
    }

    /// How much of the shorter of the row-parallel product and its sum is hidden by the longer one.
    fn hidden(&self) -> f64 {
        (self.products[1] + self.reduction - self.row) / self.products[1].min(self.reduction)
    }
}

/// Measures, and prints what a model says.
///
/// # Errors
/// If ranks do not meet, or a device fails.
pub fn collectives(options: &Options) -> Outcome {
    let failed = |error: triton::Error| error.to_string();
    let results = if options.launched {
        let place = Place::from_environment()?;
        let device = devices_from(&options.device, place.local_rank + 1)?.remove(place.local_rank);
        let communicator = Communicator::from_environment(&device, Ranks::default())?;
        measure(options, &communicator).map_err(failed)?
    } else {
        let all = on_all(&devices_from(&options.device, options.devices)?, |of| measure(options, of));
        all.map_err(failed)?.remove(0)
    };
    if let Some(results) = results {
        print(&results);
        write_json(options.json.as_ref(), &results)?;
    }
    Ok(())
}

/// On one of the ranks; the first has results.
fn measure(options: &Options, communicator: &Communicator) -> triton::Result<Option<Results>> {
    let stream = communicator.device().stream()?;
    let mut all_reduce = Vec::new();
    let sizes = (0..).map(|i| 8usize << (3 * i)).take_while(|bytes| *bytes < options.most).chain([options.most]);
    for bytes in sizes {
        let mut x = stream.tensor_zeros::<bf16, _>([(bytes / 2).max(1)])?;
        let repetitions = if bytes > 1 << 24 { options.repetitions } else { 5 * options.repetitions };
        let seconds =
            time(&stream, communicator, repetitions, || Ok(communicator.all_reduce(&stream, &mut x, Reduce::Sum)?))?;
        let predicted = Cluster::H200.all_reduce(communicator.world(), bytes as f64);
        all_reduce.push(Message { bytes, seconds, predicted });
    }
    let pair = pair(options, communicator, &stream)?;
    let (device, ranks) = (communicator.device().name().to_string(), communicator.world());
    Ok((communicator.rank() == 0).then_some(Results { device, ranks, all_reduce, pair }))
}

/// Seconds of a repetition on the slowest rank.
fn time(
    stream: &Stream,
    communicator: &Communicator,
    repetitions: u32,
    mut work: impl FnMut() -> triton::Result<()>,
) -> triton::Result<f64> {
    for _ in 0..WARMUP {
        work()?;
    }
    communicator.barrier(stream)?;
    let start = stream.record_timed_event()?;
    for _ in 0..repetitions {
        work()?;
    }
    let end = stream.record_timed_event()?;
    communicator.synchronize(stream)?;
    let own = end.since(&start)?.as_secs_f64() / f64::from(repetitions);
    let mut slowest = stream.tensor(&[own], [1])?;
    communicator.all_reduce(stream, &mut slowest, Reduce::Max)?;
    Ok(stream.download(&slowest)?[0])
}

/// A column-parallel product, and a row-parallel one with its sum.
fn pair(options: &Options, communicator: &Communicator, stream: &Stream) -> triton::Result<Vec<Pair>> {
    let [tokens, side] = PAIR.map(|extent| extent / options.smaller as usize);
    let part = communicator.shard(side).len();
    let values = |len: usize| -> Vec<bf16> {
        (0..len).map(|i| bf16::from_f32(((i * 7 + i / 13) % 17) as f32 / 64.0 - 0.125)).collect()
    };
    let x = stream.tensor(&values(tokens * side), [tokens, side])?;
    let (first, second) =
        (stream.tensor(&values(side * part), [side, part])?, stream.tensor(&values(part * side), [part, side])?);
    let mut hidden = stream.tensor_uninit::<bf16, _>([tokens, part])?;
    let mut y = stream.tensor_uninit::<bf16, _>([tokens, side])?;
    let repetitions = options.repetitions;
    // In turns: the clock of a GPU falls in the first tenth of a second of products, and all are to be of one clock.
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let mut round = vec![
            time(stream, communicator, repetitions, || Ok(gemm(&x, &first, &mut hidden).launch(stream)?))?,
            time(stream, communicator, repetitions, || Ok(gemm(&hidden, &second, &mut y).launch(stream)?))?,
            time(stream, communicator, repetitions, || Ok(communicator.all_reduce(stream, &mut y, Reduce::Sum)?))?,
        ];
        for parts in PARTS {
            round.push(time(stream, communicator, repetitions, || {
                Ok(row_linear(communicator, &hidden, &second, &mut y).parts(parts).launch(stream)?)
            })?);
            round.push(time(stream, communicator, repetitions, || {
                gemm(&x, &first, &mut hidden).launch(stream)?;
                row_linear(communicator, &hidden, &second, &mut y).parts(parts).launch(stream)?;
                Ok(())
            })?);
        }
        rounds.push(round);
    }
    let median = |column: usize| {
        let mut all: Vec<f64> = rounds.iter().map(|round| round[column]).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (products, reduction, bytes) = ([median(0), median(1)], median(2), (2 * tokens * side) as f64);
    let of_parts = PARTS.into_iter().enumerate().map(|(i, parts)| {
        let (row, seconds) = (median(3 + 2 * i), median(4 + 2 * i));
        let world = communicator.world();
        let predicted = if parts > 1 && communicator.has_passage(stream) {
            Cluster::H200.tensor_parallel_by_copies(world, products, bytes, parts)
        } else {
            Cluster::H200.tensor_parallel(world, products, bytes, parts)
        };
        Pair { parts, products, reduction, row, seconds, predicted }
    });
    Ok(of_parts.collect())
}

fn print(results: &Results) {
    let Results { device, ranks, all_reduce, pair } = results;
    println!("{ranks} x {device}: all-reduce of bf16");
    println!("{:>12} {:>12} {:>12} {:>8} {:>10}", "bytes", "us", "predicted", "ratio", "bus GB/s");
    for Message { bytes, seconds, predicted } in all_reduce {
        let bus = 2.0 * (*ranks as f64 - 1.0) / *ranks as f64 * *bytes as f64 / seconds / 1e9;
        let ratio = seconds / predicted;
        println!("{bytes:12} {:12.2} {:12.2} {ratio:8.3} {bus:10.1}", seconds * 1e6, predicted * 1e6);
    }
    println!("column- and row-parallel product, {} tokens, {} x {}, microseconds", PAIR[0], PAIR[1], PAIR[1]);
    println!(
        "{:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8}",
        "parts", "column", "row", "sum", "row+sum", "all", "predicted", "ratio", "overlap", "hidden"
    );
    for of in pair {
        let [column, row] = of.products.map(|seconds| seconds * 1e6);
        let [sum, both, all, predicted] = [of.reduction, of.row, of.seconds, of.predicted].map(|seconds| seconds * 1e6);
        let (parts, ratio, overlap, hidden) = (of.parts, of.seconds / of.predicted, of.overlap(), of.hidden());
        println!(
            "{parts:6} {column:9.1} {row:9.1} {sum:9.1} {both:9.1} {all:9.1} {predicted:9.1} {ratio:8.3} {overlap:8.3} {hidden:8.3}"
        );
    }
}
