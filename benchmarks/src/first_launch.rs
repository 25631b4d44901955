//! Time of a kernel's first launch in a process, with the cache of machine code empty and warm.
//!
//! Each launch is made by a process of its own: this program, started again. The clock runs from before the launch until the kernel is
//! done, so that it counts the look into the cache, the driver's compiler if there is nothing, the loading of the module, and the run
//! of one program. The context, the stream and the operands exist before. The driver's own cache is off (`CUDA_CACHE_DISABLE`); ours
//! (`TRITON_DSL_CACHE_DIR`) is a temporary folder, new for each pair of a cold and a warm launch.

use crate::kernels::add;
use crate::products::matmul;
use crate::{Outcome, stats, table, write_json};
use clap::{Args, ValueEnum};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use triton::prelude::*;

/// Most milliseconds of a first launch with a warm cache.
const TARGET: f64 = 5.0;

/// Options of `first-launch`.
#[derive(Args, Debug)]
pub struct Options {
    /// Pairs of processes for each kernel: one with an empty cache, then one with what that left
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Launch this kernel once in this process, and print how long that took
    #[arg(long, hide = true)]
    once: Option<Which>,
}

/// A kernel.
#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
enum Which {
    /// `add::<f32, 512>`
    Add,
    /// `matmul::<bf16, 128, 256, 64>`
    Product,
}

impl Which {
    const ALL: [Which; 2] = [Which::Add, Which::Product];

    fn name(self) -> &'static str {
        match self {
            Which::Add => "add f32 512",
            Which::Product => "matmul bf16 128x256x64",
        }
    }

    /// As the option `--once` takes it.
    fn argument(self) -> &'static str {
        match self {
            Which::Add => "add",
            Which::Product => "product",
        }
    }
}

/// What a process says of its launch.
#[derive(Debug, Serialize, Deserialize)]
struct Launched {
    device: String,
    ms: f64,
    /// Whether the kernel computed what it should.
    right: bool,
}

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    device: String,
    launches: Vec<Times>,
}

/// Milliseconds of the first launches of a kernel.
#[derive(Serialize)]
struct Times {
    kernel: &'static str,
    /// With an empty cache.
    cold_ms: Vec<f64>,
    /// With the code in the cache.
    warm_ms: Vec<f64>,
    /// Of the warm median.
    target_ms: f64,
}

/// Measures both kernels; or, in a process that was started for it, launches one.
///
/// # Errors
/// If there is no GPU, a process fails, the cache is not what it should be, or a result is wrong. What was measured is printed and
/// written before the last.
pub fn first_launch(options: &Options) -> Outcome {
    if let Some(which) = options.once {
        println!("{}", serde_json::to_string(&once(which)?)?);
        return Ok(());
    }
    let times = |kernel: Which| {
        let (cold_ms, warm_ms) = (Vec::new(), Vec::new());
        Times { kernel: kernel.name(), cold_ms, warm_ms, target_ms: TARGET }
    };
    let mut results = Results { device: String::new(), launches: Which::ALL.map(times).into() };
    let mut wrong = Vec::new();
    let plan = stats::plan(Which::ALL.len(), options.reps as usize, &mut SmallRng::seed_from_u64(rand::random()));
    for (rep, order) in plan.into_iter().enumerate() {
        for i in order {
            let (which, cache) = (Which::ALL[i], Scratch::new(rep, i));
            let cold = start(which, &cache.0)?;
            let made = entries(&cache.0);
            if made == 0 {
                return Err(
                    format!("the first launch of {} left nothing in {}", which.name(), cache.0.display()).into()
                );
            }
            let warm = start(which, &cache.0)?;
            if entries(&cache.0) != made {
                return Err(format!("the second launch of {} compiled again", which.name()).into());
            }
            if !(cold.right && warm.right) {
                wrong.push(which.name());
            }
            results.device = warm.device;
            results.launches[i].cold_ms.push(cold.ms);
            results.launches[i].warm_ms.push(warm.ms);
        }
    }
    println!(
        "A kernel's first launch in a process on {}, in ms: medians of {} processes each, from before the launch until the kernel is \
         done.\nModule loading counts; context, stream and operands exist before. The driver's own cache is off.\n",
        results.device, options.reps
    );
    let rows: Vec<Vec<String>> = results.launches.iter().flat_map(Times::rows).collect();
    println!("{}", table::render(&["kernel", "cache", "ms", "target", "verdict"], 2, &rows));
    write_json(options.json.as_ref(), &results)?;
    wrong.dedup();
    if wrong.is_empty() { Ok(()) } else { Err(format!("WRONG: what {} computed", wrong.join(" and ")).into()) }
}

impl Times {
    /// A row for each state of the cache.
    fn rows(&self) -> Vec<Vec<String>> {
        let row = |cache: &str, times: &[f64], target: Option<f64>| {
            let spread = stats::spread(times)?;
            let target = target.map(|target| (target, if spread.median <= target { "pass" } else { "miss" }));
            let (bound, verdict) = target.map_or((String::new(), "-"), |(t, verdict)| (format!("≤ {t}"), verdict));
            let ms = format!("{:.2} [{:.2}–{:.2}]", spread.median, spread.min, spread.max);
            Some(vec![self.kernel.to_string(), cache.to_string(), ms, bound, verdict.to_string()])
        };
        [row("empty", &self.cold_ms, None), row("warm", &self.warm_ms, Some(self.target_ms))]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Launches a kernel in a process of its own.
fn start(which: Which, cache: &Path) -> Outcome<Launched> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["first-launch", "--once", which.argument()]);
    command.env("TRITON_DSL_CACHE_DIR", cache).env("CUDA_CACHE_DISABLE", "1");
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_string().into());
    }
    serde_json::from_str(text.trim()).map_err(|e| format!("not a launch ({e}): {text}").into())
}

/// The first launch of a kernel in this process, of one program.
fn once(which: Which) -> Outcome<Launched> {
    let stream = Device::cuda(0)?.stream()?;
    let (ms, right) = match which {
        Which::Add => addition(&stream)?,
        Which::Product => product(&stream)?,
    };
    Ok(Launched { device: stream.device().to_string(), ms, right })
}

/// Milliseconds from before a launch until the stream is done.
fn time(stream: &Stream, launch: impl FnOnce() -> triton::Result<()>) -> triton::Result<f64> {
    stream.synchronize()?;
    let start = Instant::now();
    launch()?;
    stream.synchronize()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn addition(stream: &Stream) -> triton::Result<(f64, bool)> {
    let (x, y) = (stream.upload(&[1.0f32; 512])?, stream.upload(&[2.0f32; 512])?);
    let mut out = stream.zeros::<f32>(512)?;
    let ms = time(stream, || {
        let launch = add::<f32, 512>(&x, &y, &mut out, 512);
        // SAFETY: the buffers have as many elements as are passed.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            launch.launch(stream, 1)
        }
    })?;
    Ok((ms, stream.download(&out)?.iter().all(|v| *v == 3.0)))
}

fn product(stream: &Stream) -> triton::Result<(f64, bool)> {
    let (x, y) = (stream.upload(&[bf16::ONE; 128 * 64])?, stream.upload(&[bf16::from_f32(2.0); 64 * 256])?);
    let mut out = stream.zeros::<bf16>(128 * 256)?;
    let ms = time(stream, || {
        let (x, y, out) = (x.view([128, 64])?, y.view([64, 256])?, out.view_mut([128, 256])?);
        matmul::<bf16, 128, 256, 64>(x, y, out).launch(stream, (1, 1))
    })?;
    Ok((ms, stream.download(&out)?.iter().all(|v| *v == bf16::from_f32(128.0))))
}

/// Files in a folder; none if it does not exist.
fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, |files| files.flatten().count())
}

/// A folder for one cache, which the launch makes, and which is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(rep: usize, kernel: usize) -> Scratch {
        let name = format!("triton-first-launch-{}-{rep}-{kernel}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
