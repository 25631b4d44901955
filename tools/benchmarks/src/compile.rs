//! Time of the compiler on one core, from the embedded IR to PTX, by stage and by pass, and of the interpreter; and the bytes that
//! instances embed. Needs no GPU.

mod embedded;
mod interpret;

use crate::kernels::add;
use crate::products::matmul;
use crate::rows::softmax;
use crate::{Outcome, stats, table, write_json};
use clap::Args;
use embedded::Embedded;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use triton::prelude::*;
use triton_core::passes::{self, Env};
use triton_core::{images_with, ir};

/// Options of `compile`.
#[derive(Args, Debug)]
pub struct Options {
    /// How often each instance is compiled
    #[arg(long, default_value_t = 301)]
    reps: usize,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    times: Vec<Result>,
    /// In bytes.
    embedded: Vec<Embedded>,
}

/// Microseconds of the stages of one instance.
#[derive(Serialize)]
struct Result {
    instance: String,
    parse_us: stats::Spread,
    optimise_us: stats::Spread,
    images_us: stats::Spread,
    total_us: stats::Spread,
    passes: Vec<PassTime>,
}

/// Microseconds of one pass, summed over all images that are made of an instance. `verify` is the verifier, `lower` the generation of
/// PTX and `print` its text.
#[derive(Serialize)]
struct PassTime {
    pass: &'static str,
    us: stats::Spread,
}

/// Time by pass: from when one starts until the next one does.
#[derive(Default)]
struct Stopwatch {
    running: Option<(&'static str, Instant)>,
    totals: Vec<(&'static str, Duration)>,
}

impl Stopwatch {
    fn start(&mut self, pass: &'static str) {
        self.stop();
        self.running = Some((pass, Instant::now()));
    }

    fn stop(&mut self) {
        let Some((pass, start)) = self.running.take() else { return };
        let time = start.elapsed();
        match self.totals.iter_mut().find(|(name, _)| *name == pass) {
            Some((_, total)) => *total += time,
            None => self.totals.push((pass, time)),
        }
    }
}

/// Compiles instances of three kernels again and again.
///
/// # Errors
/// If the embedded IR does not compile, which is a bug.
pub fn compile(options: &Options) -> Outcome {
    let stream = Device::cpu().stream()?;
    let f32s = metadata::<f32>(&stream, |x, y, out| Ok(add::<f32, 512>(x, y, out, 1).metadata()))?;
    let f16s = metadata::<f16>(&stream, |x, y, out| Ok(add::<f16, 1024>(x, y, out, 1).metadata()))?;
    let rows = metadata::<f32>(&stream, |x, _, out| {
        Ok(softmax::<f32, 4096>(x.view([1, 1])?, out.view_mut([1, 1])?).metadata())
    })?;
    let product = metadata::<bf16>(&stream, |x, y, out| {
        Ok(matmul::<bf16, 64, 64, 32>(x.view([1, 1])?, y.view([1, 1])?, out.view_mut([1, 1])?).metadata())
    })?;
    let wide = metadata::<bf16>(&stream, |x, y, out| {
        Ok(wide_product(x.view([1, 1])?, y.view([1, 1])?, out.view_mut([1, 1])?).metadata())
    })?;
    // A core that was idle is slow at first.
    measure(product, options.reps.div_ceil(4))?;
    let instances = [f32s, f16s, rows, product, wide];
    let embedded = instances.into_iter().flat_map(Embedded::of).collect();
    let results = instances.map(|record| measure(record, options.reps));
    let results = Results { times: results.into_iter().collect::<Outcome<Vec<Result>>>()?, embedded };
    let us = |s: &stats::Spread| format!("{:.0}", s.median);
    let rows: Vec<Vec<String>> = results
        .times
        .iter()
        .map(|r| {
            let times = [&r.parse_us, &r.optimise_us, &r.images_us, &r.total_us].map(us);
            [r.instance.clone()].into_iter().chain(times).collect()
        })
        .collect();
    println!("IR → PTX of every target and specialization, on one core; medians of {} in µs", options.reps);
    println!("{}", table::render(&["instance", "parse", "optimise", "images", "total"], 1, &rows));
    println!("The same by pass, summed over specializations: `verify` is the verifier, `lower` and `print` the PTX");
    println!("{}", by_pass(&results.times));
    println!("Embedded bytes: the IR, the PTX of all images, and that of each");
    println!("{}", embedded::render(&results.embedded));
    println!("interpret 128x128x64 product, stage 2: {:.0} ms", interpret::milliseconds()?);
    write_json(options.json.as_ref(), &results)
}

/// A row for each pass, a column for each instance.
fn by_pass(results: &[Result]) -> String {
    let cell = |result: &Result, pass: &str| {
        let time = result.passes.iter().find(|time| time.pass == pass);
        time.map_or(String::new(), |time| format!("{:.1}", time.us.median))
    };
    // Not every instance is specialised.
    let passes = results.iter().map(|result| &result.passes[..]).max_by_key(|passes| passes.len()).unwrap_or_default();
    let row = |time: &PassTime| {
        let cells = results.iter().map(|result| cell(result, time.pass));
        [time.pass.to_owned()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = passes.iter().map(row).collect();
    let instances = results.iter().map(|result| result.instance.as_str());
    table::render(&["pass"].into_iter().chain(instances).collect::<Vec<_>>(), 1, &rows)
}

/// out = a · b by tiles of 128 × 256 × 64, as large as they are on a Hopper GPU.
#[triton::kernel(num_warps = 8)]
fn wide_product(a: Tensor<bf16, 2>, b: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let (m, n) = (program_id(0) * 128, program_id(1) * 256);
    let mut acc = zeros::<f32>([128, 256]);
    for k in (0..a.dim(1)).step_by(64) {
        acc = dot(a.load([m, k], [128, 64]), b.load([k, n], [64, 256]), acc);
    }
    out.store([m, n], acc.to::<bf16>());
}

type Metadata = &'static triton::metadata::KernelMetadata;

/// The metadata of an instance: a launch that is never made has it.
fn metadata<T: Element>(
    stream: &Stream,
    launch: impl FnOnce(&Buffer<T>, &Buffer<T>, &mut Buffer<T>) -> triton::Result<Metadata>,
) -> triton::Result<Metadata> {
    launch(&stream.zeros(1)?, &stream.zeros(1)?, &mut stream.zeros(1)?)
}

fn measure(metadata: Metadata, reps: usize) -> Outcome<Result> {
    let text = &*metadata.configs[0].ir.get();
    let mut times = [const { Vec::new() }; 4];
    let mut of_passes: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for _ in 0..reps.max(1) {
        let start = Instant::now();
        let mut function = ir::parse::parse(text).map_err(|e| e.to_string())?;
        let parsed = start.elapsed();
        let mut watch = Stopwatch::default();
        passes::run_with(passes::OPTIMISE, &mut function, &Env::portable(), &mut |pass| watch.start(pass))?;
        watch.stop();
        let optimised = start.elapsed();
        let images = images_with(&function, &mut |pass| watch.start(pass)).map_err(|e| e.to_string())?;
        watch.stop();
        let total = start.elapsed();
        drop(images);
        let stages = [parsed, optimised - parsed, total - optimised, total];
        for (times, stage) in times.iter_mut().zip(stages) {
            times.push(stage.as_secs_f64() * 1e6);
        }
        for (pass, time) in watch.totals {
            let time = time.as_secs_f64() * 1e6;
            match of_passes.iter_mut().find(|(name, _)| *name == pass) {
                Some((_, times)) => times.push(time),
                None => of_passes.push((pass, vec![time])),
            }
        }
    }
    let spread = |times: Vec<f64>| stats::spread(&times).unwrap_or(stats::Spread { median: 0.0, min: 0.0, max: 0.0 });
    let [parse_us, optimise_us, images_us, total_us] = times.map(spread);
    let passes = of_passes.into_iter().map(|(pass, times)| PassTime { pass, us: spread(times) }).collect();
    let instance = metadata.instance.to_string();
    Ok(Result { instance, parse_us, optimise_us, images_us, total_us, passes })
}
