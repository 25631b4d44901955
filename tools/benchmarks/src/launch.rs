//! Host time of a warm launch, beside a bare call of the driver with everything prepared: of a kernel with 4 arguments, and of
//! matrix products with tensor maps, one of them chosen from a pool.

use crate::kernels::add;
use crate::products::matmul;
use crate::raw::{Bare, Code, Matrix, Parameters};
use crate::{Outcome, stats, table, write_json};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use triton::metadata::{Image, KernelMetadata};
use triton::prelude::*;
use triton_kernels::linear::gemm;
use triton_kernels::linear::kernels::whole::{ProductChoice, TransposedChoice, product_pool, transposed_pool};
use triton_select::Selection;

/// Elements: one program, so that the device is never behind.
const N: i32 = 512;

/// Most host time of ours over the bare call.
const TARGET: f64 = 1.1;
/// The same of the library's product, which checks its operands and looks for its choice.
const OF_LIBRARY: f64 = 1.2;

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

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    device: String,
    launches: Vec<Comparison>,
}

/// Nanoseconds of a launch.
#[derive(Serialize)]
struct Comparison {
    kernel: String,
    ours_ns: stats::Spread,
    bare_ns: stats::Spread,
    ratio: f64,
    target: f64,
}

/// Compares launches of a kernel, where the device runs an image of it with tensor maps; and whether what it computed is right.
type Mapped = fn(&Options, &Stream) -> Outcome<Option<(Comparison, bool)>>;

/// Measures the kernels.
///
/// # Errors
/// If there is no GPU, a launch fails, or a result is wrong. What was measured is printed and written before that.
pub fn launch(options: &Options) -> Outcome {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let (added, sum_is_right) = addition(options, &stream)?;
    let (mut launches, mut wrong) = (vec![added], Vec::new());
    if !sum_is_right {
        wrong.push("`add` computed something else than 1 + 2");
    }
    let mapped = [
        (product as Mapped, "the product of ones is not K"),
        (chosen, "the product of ones by a pool is not K"),
        (products, "the two products of ones are not 2 · K"),
        (library, "the library's product of ones is not K"),
    ];
    for (compare, message) in mapped {
        let Some((compared, right)) = compare(options, &stream)? else {
            println!("left out: {device} runs no image with tensor maps");
            continue;
        };
        launches.push(compared);
        if !right {
            wrong.push(message);
        }
    }
    println!("Host time of a warm launch on {device}, beside a bare cuLaunchKernel with prepared parameters\n");
    let rows: Vec<Vec<String>> = launches.iter().map(Comparison::cells).collect();
    println!("{}", table::render(&["kernel", "ours ns", "bare ns", "ratio", "target", "verdict"], 1, &rows));
    write_json(options.json.as_ref(), &Results { device: device.to_string(), launches })?;
    if wrong.is_empty() { Ok(()) } else { Err(format!("WRONG: {}", wrong.join("; ")).into()) }
}

impl Comparison {
    fn cells(&self) -> Vec<String> {
        let ns = |spread: &stats::Spread| format!("{:.0} [{:.0}–{:.0}]", spread.median, spread.min, spread.max);
        let verdict = if self.ratio <= self.target { "pass" } else { "miss" };
        let (ratio, target) = (format!("{:.3}", self.ratio), format!("≤ {}", self.target));
        vec![self.kernel.clone(), ns(&self.ours_ns), ns(&self.bare_ns), ratio, target, verdict.to_string()]
    }
}

/// A kernel over pointers; and whether what it computed is right.
fn addition(options: &Options, stream: &Stream) -> Outcome<(Comparison, bool)> {
    let (x, y) = (stream.upload(&[1.0f32; N as usize])?, stream.upload(&[2.0f32; N as usize])?);
    let mut out = stream.zeros::<f32>(N as usize)?;
    let device = stream.device();
    let capability = device.compute_capability().ok_or("the device has no compute capability")?;
    let image = add::<f32, 512>(&x, &y, &mut out, N).image(capability, device.driver_version())?;
    let words = [x.address(), y.address(), out.address(), N.cast_unsigned().into()];
    let mut bare = Bare::new(&Code::block_of(image), stream, Parameters::of(&words))?;
    let ours = || {
        let launch = add::<f32, 512>(&x, &y, &mut out, N);
        // SAFETY: the buffers have N elements, and the mask keeps accesses below N.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            launch.launch(stream, 1)
        }
    };
    let compared = compare(options, stream, "add, 4 arguments".to_string(), ours, &mut bare)?;
    let right = stream.download(&out)?.iter().all(|v| *v == 3.0);
    Ok((compared, right))
}

/// out = x · y + x · z by a program: an image of four tensor maps.
#[triton::kernel]
fn two_products(x: Tensor<bf16, 2>, y: Tensor<bf16, 2>, z: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let mut acc = zeros::<f32>([64, 64]);
    for k in (0..x.dim(1)).step_by(64) {
        let a = x.load([0, k], [64, 64]);
        acc = dot(a, y.load([k, 0], [64, 64]), acc);
        acc = dot(a, z.load([k, 0], [64, 64]), acc);
    }
    out.store([0, 0], acc.to::<bf16>());
}

/// The product that is compared with cuBLAS; and whether what it computed is right. Nothing where the device runs no image with tensor
/// maps. Ours makes its views for each launch, as programs do.
fn product(options: &Options, stream: &Stream) -> Outcome<Option<(Comparison, bool)>> {
    product_of_ones(options, stream, |x, y, out, on| {
        let launch = matmul::<bf16, 128, 256, 64>(x, y, out);
        let metadata = launch.metadata();
        on.map_or(Ok(()), |stream| launch.launch(stream, (1, 1)))?;
        Ok(metadata)
    })
}

/// out = x · y by the instance of a pool that a selector chooses.
#[triton::kernel(tune = [BM, BN, BK], configs = [
    (BM = 128, BN = 256, BK = 64, num_warps = 8),
    (BM = 128, BN = 128, BK = 64, num_warps = 8),
    (BM = 64, BN = 128, BK = 64),
    (BM = 64, BN = 64, BK = 64),
])]
fn pooled<const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<bf16, 2>,
    y: Tensor<bf16, 2>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [BM, BK]), y.load([k, n], [BK, BN]), acc);
    }
    out.store([m, n], acc.to::<bf16>());
}

/// As [`product`], of [`pooled`]: the selection has chosen for the key before, the first instance.
fn chosen(options: &Options, stream: &Stream) -> Outcome<Option<(Comparison, bool)>> {
    let selection = Selection::new(stream.device());
    let first = pooled_pool().members().first().ok_or("the pool has no members")?.metadata();
    product_of_ones(options, stream, |x, y, out, on| {
        let launch = pooled_tuned(x, y, out).with(&selection);
        on.map_or(Ok(()), |stream| launch.launch(stream, |_| (1, 1)))?;
        Ok(first)
    })
}

/// The instance of the library of a name, of b stored \[K, N\].
fn instance(name: &str) -> Option<&'static KernelMetadata> {
    let (tile, is_transposed) = name.strip_suffix(" transposed").map_or((name, false), |tile| (tile, true));
    if is_transposed {
        let members = transposed_pool::<bf16, false, false>().members().iter();
        let is = |of: &TransposedChoice| format!("{}x{}x{}", of.BM, of.BN, of.BK) == tile;
        return members.map(|member| (member.choice(), member.metadata())).find(|(of, _)| is(of)).map(|found| found.1);
    }
    let members = product_pool::<bf16, false, false>().members().iter();
    let is = |of: &ProductChoice| format!("{}x{}x{}", of.BM, of.BN, of.BK) == tile;
    members.map(|member| (member.choice(), member.metadata())).find(|(of, _)| is(of)).map(|found| found.1)
}

/// As [`product`], by the library, which has chosen for the product before.
fn library(options: &Options, stream: &Stream) -> Outcome<Option<(Comparison, bool)>> {
    let mut found = None;
    let compared = product_of_ones(options, stream, |x, y, mut out, on| {
        let metadata = match found {
            Some(metadata) => metadata,
            None => {
                let name = gemm(x, y, out.reborrow()).selected(stream)?;
                let unknown = || triton::Error::other(std::io::Error::other(format!("{name} is unknown")));
                *found.insert(instance(&name).ok_or_else(unknown)?)
            }
        };
        on.map_or(Ok(()), |stream| gemm(x, y, out).launch(stream))?;
        Ok(metadata)
    })?;
    let named = |(compared, right): (Comparison, bool)| {
        let kernel = format!("`gemm`, {}", compared.kernel);
        (Comparison { kernel, target: OF_LIBRARY, ..compared }, right)
    };
    Ok(compared.map(named))
}

/// A product of 128 x 64 by 64 x 256, whose views are made for each launch. `launch` says what it launches, and enqueues it if it is given a
/// stream.
fn product_of_ones(
    options: &Options,
    stream: &Stream,
    mut launch: impl FnMut(
        View<'_, bf16, 2>,
        View<'_, bf16, 2>,
        ViewMut<'_, bf16, 2>,
        Option<&Stream>,
    ) -> triton::Result<&'static KernelMetadata>,
) -> Outcome<Option<(Comparison, bool)>> {
    let (x, y) = (ones(stream, [128, 64])?, ones(stream, [64, 256])?);
    let mut out = stream.zeros::<bf16>(128 * 256)?;
    let matrices = [
        Matrix { address: x.address(), shape: [128, 64] },
        Matrix { address: y.address(), shape: [64, 256] },
        Matrix { address: out.address(), shape: [128, 256] },
    ];
    let mut of_views =
        |on: Option<&Stream>| launch(x.view([128, 64])?, y.view([64, 256])?, out.view_mut([128, 256])?, on);
    let Some(compared) = mapped(options, stream, &matrices, &mut of_views)? else { return Ok(None) };
    let right = stream.download(&out)?.iter().all(|v| *v == bf16::from_f32(64.0));
    Ok(Some((compared, right)))
}

/// As [`product`], of [`two_products`].
fn products(options: &Options, stream: &Stream) -> Outcome<Option<(Comparison, bool)>> {
    let shape = [64, 64];
    let (x, y, z) = (ones(stream, shape)?, ones(stream, shape)?, ones(stream, shape)?);
    let mut out = stream.zeros::<bf16>(64 * 64)?;
    let matrices = [x.address(), y.address(), z.address(), out.address()].map(|address| Matrix { address, shape });
    let mut launch = |on: Option<&Stream>| {
        let (x, y, z, out) = (x.view([64, 64])?, y.view([64, 64])?, z.view([64, 64])?, out.view_mut([64, 64])?);
        let launch = two_products(x, y, z, out);
        let metadata = launch.metadata();
        on.map_or(Ok(()), |stream| launch.launch(stream, 1))?;
        Ok(metadata)
    };
    let Some(compared) = mapped(options, stream, &matrices, &mut launch)? else { return Ok(None) };
    let right = stream.download(&out)?.iter().all(|v| *v == bf16::from_f32(128.0));
    Ok(Some((compared, right)))
}

/// A matrix of ones.
fn ones(stream: &Stream, [rows, columns]: [u32; 2]) -> triton::Result<Buffer<bf16>> {
    stream.upload(&vec![bf16::ONE; (rows * columns) as usize])
}

/// Compares launches of a kernel over views whose image takes tensor maps of them. `launch` enqueues one program if it is given a stream.
fn mapped(
    options: &Options,
    stream: &Stream,
    matrices: &[Matrix],
    launch: &mut impl FnMut(Option<&Stream>) -> triton::Result<&'static KernelMetadata>,
) -> Outcome<Option<Comparison>> {
    let capability = stream.device().compute_capability().ok_or("the device has no compute capability")?;
    let metadata = launch(None)?;
    // The most specialized one is first, and every promise holds of these views.
    let images = metadata.configs[0].images.iter();
    let one = |image: &&Image| image.takes([1; 3], stream.device().multiprocessors());
    let mut images =
        images.filter(one).filter(|image| image.target.runs_on(capability) && !image.tensor_maps.is_empty());
    let Some(image) = images.next() else { return Ok(None) };
    if image.cluster != [1; 3] {
        return Err("a bare cuLaunchKernel launches no clusters".into());
    }
    let parameters = Parameters::of_matrices(matrices, image)?;
    let kernel = format!("{}, {} tensor maps", metadata.instance, image.tensor_maps.len());
    let mut bare = Bare::new(&Code::block_of(image), stream, parameters)?;
    compare(options, stream, kernel, || launch(Some(stream)).map(|_| ()), &mut bare).map(Some)
}

/// Times both in random order.
fn compare(
    options: &Options,
    stream: &Stream,
    kernel: String,
    mut ours: impl FnMut() -> triton::Result<()>,
    bare: &mut Bare,
) -> Outcome<Comparison> {
    let each = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / f64::from(options.launches);
    let mut times = [Vec::new(), Vec::new()];
    // The first rounds load code and warm up.
    for order in stats::plan(2, options.blocks + 10, &mut SmallRng::seed_from_u64(rand::random())) {
        for which in order {
            stream.synchronize()?;
            let start = Instant::now();
            for _ in 0..options.launches {
                if which == 0 { ours()? } else { bare.launch()? }
            }
            times[which].push(each(start));
        }
    }
    stream.synchronize()?;
    let spread = |i: usize| stats::spread(&times[i][10..]).ok_or("`--blocks` is at least 1");
    let (ours_ns, bare_ns) = (spread(0)?, spread(1)?);
    Ok(Comparison { kernel, ours_ns, bare_ns, ratio: ours_ns.median / bare_ns.median, target: TARGET })
}
