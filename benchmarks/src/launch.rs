//! Host time of a warm launch, beside a bare call of the driver with everything prepared.

use crate::kernels::add;
use crate::raw::{Bare, Code};
use crate::{Outcome, stats, write_json};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use triton::{Device, Stream};

/// Elements: one program, so that the device is never behind.
const N: i32 = 512;

/// Most host time of ours over the bare call.
const TARGET: f64 = 1.1;

/// Options of `launch`.
#[derive(Args, Debug)]
pub struct Options {
    /// Pairs of measurements, ours and the bare call in random order
    #[arg(long, default_value_t = 401)]
    blocks: usize,
    /// Launches of a measurement; fewer than the 1024 that the driver queues
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1000))]
    launches: u32,
    /// File for the results as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Nanoseconds of a launch.
#[derive(Serialize)]
struct Result {
    device: String,
    ours_ns: stats::Spread,
    bare_ns: stats::Spread,
    ratio: f64,
    target: f64,
}

/// Measures both.
///
/// # Errors
/// If there is no GPU, or a launch fails.
pub fn launch(options: &Options) -> Outcome {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let (x, y) = (stream.upload(&[1.0f32; N as usize])?, stream.upload(&[2.0f32; N as usize])?);
    let mut out = stream.zeros::<f32>(N as usize)?;

    let capability = device.compute_capability().ok_or("the device has no compute capability")?;
    let image = add::<f32, 512>(&x, &y, &mut out, N).image(capability, device.driver_version())?;
    let mut bare = Bare::new(&Code::block_of(image), &stream, [x.address(), y.address(), out.address()], N)?;
    let mut ours = |stream: &Stream| {
        let launch = add::<f32, 512>(&x, &y, &mut out, N);
        // SAFETY: the buffers have N elements, and the mask keeps accesses below N.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            launch.launch(stream, 1)
        }
    };
    let each = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / f64::from(options.launches);
    let mut times = [Vec::new(), Vec::new()];
    // The first rounds load code and warm up.
    for order in stats::plan(2, options.blocks + 10, &mut SmallRng::seed_from_u64(rand::random())) {
        for which in order {
            stream.synchronize()?;
            let start = Instant::now();
            for _ in 0..options.launches {
                if which == 0 { ours(&stream)? } else { bare.launch()? }
            }
            times[which].push(each(start));
        }
    }
    stream.synchronize()?;
    if stream.download(&out)?.iter().any(|v| *v != 3.0) {
        return Err("the launched kernel computed something else than 1 + 2".into());
    }

    let spread = |i: usize| stats::spread(&times[i][10..]).ok_or("`--blocks` is at least 1");
    let (ours_ns, bare_ns) = (spread(0)?, spread(1)?);
    let ratio = ours_ns.median / bare_ns.median;
    let verdict = if ratio <= TARGET { "pass" } else { "miss" };
    println!(
        "launch of a warm kernel with 4 arguments on {device}: ours {:.0} ns, bare cuLaunchKernel {:.0} ns, ratio {ratio:.3} \
         (target ≤ {TARGET}): {verdict}",
        ours_ns.median, bare_ns.median
    );
    write_json(options.json.as_ref(), &Result { device: device.to_string(), ours_ns, bare_ns, ratio, target: TARGET })
}
