//! Time of a kernel's first launch in a process, with the cache of machine code empty and warm.
//!
//! Each launch is made by a process of its own: this program, started again. The clock runs from before the launch until the kernel is
//! done, so that it counts the look into the cache, the driver's compiler if there is nothing, the loading of the module, and the run
//! of one program. The context, the stream and the operands exist before. The driver's own cache is off (`CUDA_CACHE_DISABLE`); ours
//! (`TRITON_DSL_CACHE_DIR`) is a temporary folder, new for each pair of a cold and a warm launch.
//!
//! Beside it stands the time of `ptxas` for the same text on the same host, if there is one.

use crate::kernels::add;
use crate::products::matmul;
use crate::users::elementwise::dropout_pointers;
use crate::users::products::matmul_pointers;
use crate::{Outcome, stats, table, write_json};
use clap::{Args, ValueEnum};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use triton::metadata::Target;
use triton::prelude::*;
use triton::selection::Code;

/// Most milliseconds of a first launch with a warm cache.
const WARM: f64 = 5.0;

/// Most times of `ptxas` of a first launch with an empty cache.
const COLD: f64 = 2.5;

/// Options of `first-launch`.
#[derive(Args, Debug)]
pub struct Options {
    /// Pairs of processes for each kernel: one with an empty cache, then one with what that left
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// The assembler that compiles the same texts
    #[arg(long, default_value = "ptxas")]
    ptxas: PathBuf,
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
    /// Triton's tutorial 03 by pointers
    Tutorial,
    /// Triton's tutorial 04 by pointers
    Dropout,
}

impl Which {
    const ALL: [Which; 4] = [Which::Add, Which::Product, Which::Tutorial, Which::Dropout];

    fn name(self) -> &'static str {
        match self {
            Which::Add => "add f32 512",
            Which::Product => "matmul bf16 128x256x64",
            Which::Tutorial => "tutorial 03, pointers",
            Which::Dropout => "tutorial 04, pointers",
        }
    }

    /// As the option `--once` takes it.
    fn argument(self) -> &'static str {
        match self {
            Which::Add => "add",
            Which::Product => "product",
            Which::Tutorial => "tutorial",
            Which::Dropout => "dropout",
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
    /// How often the driver compiled it, with what was done behind the launch, and how long that took.
    links: u32,
    link_ms: f64,
    /// What it compiled, and for which architecture.
    ptx: String,
    arch: String,
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
    /// Of the driver's compiler alone, then.
    link_ms: Vec<f64>,
    /// Links, with the one behind the launch.
    links: u32,
    /// With the code in the cache.
    warm_ms: Vec<f64>,
    /// Of the assembler, for the same text.
    ptxas_ms: Vec<f64>,
}

/// Measures all kernels; or, in a process that was started for it, launches one.
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
        let (cold_ms, link_ms, warm_ms, ptxas_ms) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Times { kernel: kernel.name(), cold_ms, link_ms, links: 0, warm_ms, ptxas_ms }
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
            let times = &mut results.launches[i];
            times.ptxas_ms.extend(assemble(&options.ptxas, &cold, &cache.0)?);
            times.cold_ms.push(cold.ms);
            times.link_ms.push(cold.link_ms);
            times.links = cold.links;
            times.warm_ms.push(warm.ms);
        }
    }
    println!(
        "A kernel's first launch in a process on {}, in ms: medians of {} processes each, from before the launch until the kernel is \
         done.\nModule loading counts; context, stream and operands exist before. The driver's own cache is off. `links` are those of the \
         driver's compiler,\nwith one behind the launch, and their time.\n",
        results.device, options.reps
    );
    let rows: Vec<Vec<String>> = results.launches.iter().flat_map(Times::rows).collect();
    let head = ["kernel", "cache", "ms", "links", "link ms", "ptxas ms", "target", "verdict"];
    println!("{}", table::render(&head, 2, &rows));
    if results.launches.iter().all(|times| times.ptxas_ms.is_empty()) {
        println!("SKIPPED: {} does not run, so that nothing stands beside empty caches", options.ptxas.display());
    }
    write_json(options.json.as_ref(), &results)?;
    wrong.dedup();
    if wrong.is_empty() { Ok(()) } else { Err(format!("WRONG: what {} computed", wrong.join(" and ")).into()) }
}

impl Times {
    /// A row for each state of the cache.
    fn rows(&self) -> Vec<Vec<String>> {
        let ptxas = stats::median(&self.ptxas_ms);
        let shown = |ms: Option<f64>| ms.map_or("-".to_string(), |ms| format!("{ms:.1}"));
        let row = |cache: &str, times: &[f64], links: [String; 3], target: Option<f64>| {
            let spread = stats::spread(times)?;
            let verdict = target.map_or("-", |target| if spread.median <= target { "pass" } else { "miss" });
            let ms = format!("{:.2} [{:.2}–{:.2}]", spread.median, spread.min, spread.max);
            let (target, [links, link, ptxas]) = (target.map_or("-".to_string(), |t| format!("≤ {t:.1}")), links);
            Some(vec![self.kernel.to_string(), cache.to_string(), ms, links, link, ptxas, target, verdict.to_string()])
        };
        let cold = [self.links.to_string(), shown(stats::median(&self.link_ms)), shown(ptxas)];
        let warm = ["0", "-", "-"].map(str::to_string);
        [
            row("empty", &self.cold_ms, cold, ptxas.map(|ptxas| COLD * ptxas)),
            row("warm", &self.warm_ms, warm, Some(WARM)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Milliseconds of the assembler for what a process launched; `None` if there is no assembler.
///
/// # Errors
/// It refuses the text, or the folder cannot be written.
fn assemble(ptxas: &Path, launched: &Launched, folder: &Path) -> Outcome<Option<f64>> {
    let text = folder.join("kernel.ptx");
    std::fs::write(&text, &launched.ptx)?;
    let start = Instant::now();
    let output =
        Command::new(ptxas).arg("-arch").arg(&launched.arch).arg(&text).arg("-o").arg(folder.join("code")).output();
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let Ok(output) = output else { return Ok(None) };
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_string().into());
    }
    Ok(Some(ms))
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
    let (ms, code, right) = match which {
        Which::Add => addition(&stream)?,
        Which::Product => product(&stream)?,
        Which::Tutorial => tutorial(&stream)?,
        Which::Dropout => dropout(&stream)?,
    };
    let code = code.ok_or("the device runs no code")?;
    let (info, image) = (code.info()?, code.image()?);
    // Code of compute capability 8.0 runs on a later one as what is compiled for that.
    let capability = stream.device().compute_capability().ok_or("the device is not a GPU")?;
    let arch = if image.target == Target::Sm80 {
        format!("sm_{}{}", capability.major, capability.minor)
    } else {
        image.target.name().to_string()
    };
    let (device, ptx) = (stream.device().to_string(), image.text().into_owned());
    Ok(Launched { device, ms, right, links: info.links, link_ms: info.link_time.as_secs_f64() * 1e3, ptx, arch })
}

/// Milliseconds from before a launch until the stream is done, and the code that it ran. A launch is what an expression makes.
macro_rules! time {
    ($stream:expr, $grid:expr, $launch:expr) => {{
        $stream.synchronize()?;
        let start = Instant::now();
        $launch.launch($stream, $grid)?;
        $stream.synchronize()?;
        (start.elapsed().as_secs_f64() * 1e3, $launch.code($stream, $grid)?)
    }};
}

/// As [`time`], of a kernel over raw pointers.
macro_rules! time_unsafe {
    ($stream:expr, $grid:expr, $launch:expr) => {{
        $stream.synchronize()?;
        let start = Instant::now();
        // SAFETY: the buffers have as many elements as are passed.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            $launch.launch($stream, $grid)?;
        }
        $stream.synchronize()?;
        (start.elapsed().as_secs_f64() * 1e3, $launch.code($stream, $grid)?)
    }};
}

/// A launch: its milliseconds, its code, and whether its result is right.
type Timed = (f64, Option<Code>, bool);

fn addition(stream: &Stream) -> triton::Result<Timed> {
    let (x, y) = (stream.upload(&[1.0f32; 512])?, stream.upload(&[2.0f32; 512])?);
    let mut out = stream.zeros::<f32>(512)?;
    let (ms, code) = time_unsafe!(stream, 1, add::<f32, 512>(&x, &y, &mut out, 512));
    Ok((ms, code, stream.download(&out)?.iter().all(|v| *v == 3.0)))
}

fn product(stream: &Stream) -> triton::Result<Timed> {
    let (x, y) = (stream.upload(&[bf16::ONE; 128 * 64])?, stream.upload(&[bf16::from_f32(2.0); 64 * 256])?);
    let mut out = stream.zeros::<bf16>(128 * 256)?;
    let (x, y) = (x.view([128, 64])?, y.view([64, 256])?);
    let (ms, code) = time!(stream, (1, 1), matmul::<bf16, 128, 256, 64>(x, y, out.view_mut([128, 256])?));
    Ok((ms, code, stream.download(&out)?.iter().all(|v| *v == bf16::from_f32(128.0))))
}

fn tutorial(stream: &Stream) -> triton::Result<Timed> {
    let (x, y) = (stream.upload(&[f16::ONE; 128 * 64])?, stream.upload(&[f16::from_f32(2.0); 64 * 256])?);
    let mut out = stream.zeros::<f16>(128 * 256)?;
    let (ms, code) = time_unsafe!(
        stream,
        1,
        matmul_pointers::<128, 256, 64, 8, false>(&x, &y, &mut out, 128, 256, 64, 64, 1, 256, 1, 256, 1)
    );
    Ok((ms, code, stream.download(&out)?.iter().all(|v| *v == f16::from_f32(128.0))))
}

fn dropout(stream: &Stream) -> triton::Result<Timed> {
    let x = stream.upload(&[1.0f32; 1024])?;
    let mut out = stream.zeros::<f32>(1024)?;
    let (ms, code) = time_unsafe!(stream, 1, dropout_pointers::<1024>(&x, &mut out, 1024, 0.5, 7));
    let kept = stream.download(&out)?;
    Ok((ms, code, kept.iter().all(|v| *v == 0.0 || *v == 2.0) && kept.contains(&2.0)))
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
