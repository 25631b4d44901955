//! The PTX simulator: a matrix product, with the time that it may take.

use crate::products::matmul;
use crate::{Outcome, cpu, data, stats, write_json};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use triton::{Device, f16};

/// Options of `sim`.
#[derive(Args, Debug)]
pub struct Options {
    /// Rows, columns and products of an element
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 12))]
    side: u32,
    /// Timed repetitions
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What may pass on one core with the default size, in seconds.
const TARGET: f64 = 1.0;

/// Times of the product.
#[derive(Serialize)]
struct Result {
    case: String,
    seconds: Vec<f64>,
    target: f64,
    /// Warp instructions of a run.
    instructions: u64,
}

/// Times the product.
///
/// # Errors
/// Of the simulator: mostly a report on our code.
pub fn sim(options: &Options) -> Outcome {
    let stream = Device::sim().stream()?;
    let side = options.side as usize;
    let random = |seed| stream.upload(&data::random::<f16>(side * side, seed));
    let (a, b, mut out) = (random(1)?, random(2)?, stream.zeros::<f16>(side * side)?);
    let (shape, grid) = ([side, side], (side.div_ceil(64), side.div_ceil(64)));
    let seconds = cpu::time(options.reps, || {
        let launch = matmul::<f16, 64, 64, 32>(a.view(shape)?, b.view(shape)?, out.view_mut(shape)?);
        Ok(launch.launch(&stream, grid)?)
    })?;
    let instructions = stream.statistics().map_or(0, |counted| counted.instructions);
    let case = format!("matmul f16, {side}^3 in tiles of 64x64x32");
    let median = stats::median(&seconds).unwrap_or(f64::NAN);
    println!(
        "PTX simulator: {case}: {median:.3} s (target: {TARGET:.0} s), {:.1} million warp instructions a second",
        instructions as f64 / median / 1e6
    );
    write_json(options.json.as_ref(), &Result { case, seconds, target: TARGET, instructions })
}
