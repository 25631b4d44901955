//! The CPU device: an addition and a matrix product, each with the time that it may take on two cores.

use crate::kernels::add;
use crate::products::matmul;
use crate::{Outcome, data, stats, write_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use triton::{Device, Stream};

/// Options of `cpu`.
#[derive(Args, Debug)]
pub struct Options {
    /// Elements of the addition
    #[arg(long, default_value_t = 100_000_000, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    n: u32,
    /// Rows, columns and products of an element of the matrix product
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1 << 14))]
    side: u32,
    /// Timed repetitions
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What may pass on two cores with the default sizes, in seconds.
const TARGET: f64 = 3.0;

/// Times of one case.
#[derive(Serialize)]
struct Result {
    case: String,
    threads: u32,
    seconds: Vec<f64>,
    target: f64,
}

/// Times both.
///
/// # Errors
/// Of the CPU device, mostly because memory runs out.
pub fn cpu(options: &Options) -> Outcome {
    let device = Device::cpu();
    let stream = device.stream()?;
    let (n, side) = (options.n as usize, options.side as usize);
    let cases = [
        (format!("add f32, {n} elements in blocks of 1024"), time_add(&stream, n, options.reps)?),
        (format!("matmul f32, {side}^3 in tiles of 64x64x32"), time_matmul(&stream, side, options.reps)?),
    ];
    let threads = device.multiprocessors();
    let results = cases.map(|(case, seconds)| Result { case, threads, seconds, target: TARGET });
    for Result { case, seconds, .. } in &results {
        let median = stats::median(seconds).unwrap_or(f64::NAN);
        println!("CPU device, {threads} threads: {case}: {median:.2} s (target on two cores: {TARGET:.0} s)");
    }
    write_json(options.json.as_ref(), &results)
}

fn time_add(stream: &Stream, n: usize, reps: u32) -> Outcome<Vec<f64>> {
    let (x, y) = (stream.upload(&data::random::<f32>(n, 1))?, stream.upload(&data::random::<f32>(n, 2))?);
    let mut out = stream.zeros::<f32>(n)?;
    time(reps, || {
        let launch = add::<f32, 1024>(&x, &y, &mut out, i32::try_from(n)?);
        // SAFETY: each buffer has `n` elements.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            launch.launch(stream, n.div_ceil(1024))?;
        }
        Ok(stream.synchronize()?)
    })
}

fn time_matmul(stream: &Stream, side: usize, reps: u32) -> Outcome<Vec<f64>> {
    let random = |seed| stream.upload(&data::random::<f32>(side * side, seed));
    let (a, b, mut out) = (random(3)?, random(4)?, stream.zeros::<f32>(side * side)?);
    let shape = [side, side];
    time(reps, || {
        let launch = matmul::<f32, 64, 64, 32>(a.view(shape)?, b.view(shape)?, out.view_mut(shape)?);
        launch.launch(stream, (side.div_ceil(64), side.div_ceil(64)))?;
        Ok(stream.synchronize()?)
    })
}

/// Seconds of each run.
pub fn time(reps: u32, mut run: impl FnMut() -> Outcome) -> Outcome<Vec<f64>> {
    let one = |_| {
        let start = Instant::now();
        run()?;
        Ok(start.elapsed().as_secs_f64())
    };
    (0..reps).map(one).collect()
}
