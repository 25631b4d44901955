//! What a library builds on, beside what it could do without: a product whose rows are gathered, linear layers with bias and GELU, column sums in
//! one launch, a graph of small launches, a pool of many instances.

use crate::fused::{gathered_product_pool, gathered_product_tuned};
use crate::kernels::copy;
use crate::products::matmul;
use crate::stats::median;
use crate::timing::Timer;
use crate::{Common, Outcome, data};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use std::time::Instant;
use triton::prelude::*;
use triton_kernels::Activation;
use triton_kernels::linear::{Gemm, gemm};

/// Options of `library`.
#[derive(clap::Args, Debug)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Repetitions of each
    #[arg(long, default_value_t = 200)]
    reps: u32,
}

/// out = the sums of the columns of x, in one launch: program (j, s) adds ROWS rows of 64 columns, and the last one of a column's programs
/// what all of them found, in their order. `done` is 0 before, and again after.
#[triton::kernel(deterministic = true, num_warps = 8, configs = [(ROWS = 512), (ROWS = 256), (ROWS = 1024)], tune = [ROWS])]
fn column_sums<const ROWS: i32>(
    x: Tensor<f32, 2>,
    parts: TensorMut<f32, 2>,
    done: TensorMut<i32, 1>,
    out: TensorMut<f32, 1>,
) {
    let (j, s, slices) = (program_id(0), program_id(1), num_programs(1));
    let mut acc = zeros::<f32>([128, 64]);
    for i in (0..ROWS).step_by(128) {
        acc += x.load([s * ROWS + i, j * 64], [128, 64]);
    }
    parts.store([s, j * 64], sum_axis(acc, 0).expand_dims(0));
    let before = done.order(AcqRel).atomic_add_at([j], 1, true);
    if before == slices - 1 {
        let mut all = zeros::<f32>([16, 64]);
        for s in (0..slices).step_by(16) {
            all += parts.load([s, j * 64], [16, 64]);
        }
        out.store([j * 64], sum_axis(all, 0));
        done.store([j], zeros::<i32>([1]));
    }
}

/// Adds to 256 numbers.
#[triton::kernel(A = [1, 2, 3, 4, 5, 6, 7, 8], B = [10, 20, 30, 40, 50, 60, 70, 80], tune = [A, B])]
fn add_to<const A: i32, const B: i32>(x: TensorMut<i32, 1>) {
    x.store([0], x.load([0], [256]) + A + B);
}

/// Measures all of it.
///
/// # Errors
/// Of the device, and a result that is wrong.
pub fn library(options: &Options) -> Outcome {
    let device = options.common.device.parse::<Device>()?;
    let mut timer = Timer::new(&device, options.common.flush_mib)?;
    let seed = options.common.seed.unwrap_or_else(rand::random);
    println!("{device}, seed {seed}, {} repetitions", options.reps);
    products(options, &mut timer, seed)?;
    linear(options, &mut timer, seed)?;
    sums(options, &mut timer, seed)?;
    graphs(&timer.stream)?;
    pools(&timer.stream)
}

/// Tokens, and the columns and rows of the weights, of linear layers of public models.
const LINEAR: &[[usize; 3]] = &[
    [128, 4096, 4096],
    [256, 3072, 3072],
    [512, 11008, 4096],
    [1500, 5120, 1280],
    [2048, 3072, 768],
    [2048, 14336, 4096],
    [4096, 4096, 4096],
    [8192, 5120, 5120],
];

/// out = x · wᵀ, and with bias and GELU if it is fused.
fn layer<'a>(
    [x, w, bias]: [&'a Buffer<bf16>; 3],
    out: &'a mut Buffer<bf16>,
    [m, n, k]: [usize; 3],
    fused: bool,
) -> Outcome<Gemm<'a, bf16, bf16>> {
    let product = gemm(x.view([m, k])?, w.view([n, k])?.transpose(), out.view_mut([m, n])?);
    Ok(if fused { product.bias(bias.view([n])?).activation(Activation::GeluTanh) } else { product })
}

/// Linear layers of the library with bias and GELU, beside their products alone, in turns.
fn linear(options: &Options, timer: &mut Timer, seed: u64) -> Outcome {
    let stream = timer.stream.clone();
    for &[m, n, k] in LINEAR {
        let of = |len: usize, seed: u64| stream.upload(&data::random::<bf16>(len, seed));
        let (x, w, bias) = (of(m * k, seed)?, of(n * k, seed + 1)?, of(n, seed + 2)?);
        let mut out = stream.zeros::<bf16>(m * n)?;
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..5 {
            for (fused, times) in [false, true].into_iter().zip(&mut times) {
                times.extend(timer.time(3, options.reps / 5, |stream| {
                    Ok(layer([&x, &w, &bias], &mut out, [m, n, k], fused)?.launch(stream)?)
                })?);
            }
        }
        let [plain, fused] = times.map(|ms| median(&ms).unwrap_or(f64::NAN) * 1e3);
        let of_plain = layer([&x, &w, &bias], &mut out, [m, n, k], false)?.selected(&stream)?;
        let of_fused = layer([&x, &w, &bias], &mut out, [m, n, k], true)?.selected(&stream)?;
        println!(
            "linear {m}x{n}x{k} bf16 NT: {plain:.1} us ({of_plain}); with bias and GELU {fused:.1} us ({of_fused}), {:.2} of that",
            plain / fused
        );
    }
    Ok(())
}

const SIDE: usize = 4096;

/// Each member of the pool of gathered products, and the dense product of the same tile as the first, in turns.
fn products(options: &Options, timer: &mut Timer, seed: u64) -> Outcome {
    let stream = timer.stream.clone();
    let shape = [SIDE; 2];
    let mut order: Vec<i32> = (0..SIDE as i32).collect();
    order.shuffle(&mut SmallRng::seed_from_u64(seed));
    let (x, w) = (data::random::<bf16>(SIDE * SIDE, seed), data::random::<bf16>(SIDE * SIDE, seed + 1));
    let (x, w, rows) = (stream.upload(&x)?, stream.upload(&w)?, stream.upload(&order)?);
    let (mut by_rows, mut plain) = (stream.zeros::<bf16>(SIDE * SIDE)?, stream.zeros::<bf16>(SIDE * SIDE)?);
    let grid = |bm: i32, bn: i32| (SIDE.div_ceil(bm as usize), SIDE.div_ceil(bn as usize));
    let report = |what: &str, [bm, bn, bk]: [i32; 3], ms: &[f64]| {
        let ms = median(ms).unwrap_or(f64::NAN);
        println!("{what} {SIDE}^3 bf16, {bm}x{bn}x{bk}: {ms:.4} ms, {:.0} TF", 2.0 * (SIDE as f64).powi(3) / ms / 1e9);
    };
    for _ in 0..2 {
        let ms = timer.time(5, options.reps, |stream| {
            let launch = matmul::<bf16, 128, 256, 64>(x.view(shape)?, w.view(shape)?, plain.view_mut(shape)?);
            Ok(launch.launch(stream, grid(128, 256))?)
        })?;
        report("dense", [128, 256, 64], &ms);
        for (i, member) in gathered_product_pool().members().iter().enumerate() {
            let ms = timer.time(5, options.reps, |stream| {
                let (x, rows, w) = (x.view(shape)?, rows.view([SIDE])?, w.view(shape)?);
                let tuned = gathered_product_tuned(x, rows, w, by_rows.view_mut(shape)?);
                Ok(tuned.choose(i).launch(stream, |of| grid(of.BM, of.BN))?)
            })?;
            let of = member.choice();
            report("gathered", [of.BM, of.BN, of.BK], &ms);
            let (by_rows, plain) = (stream.download(&by_rows)?, stream.download(&plain)?);
            let right = |(i, &row): (usize, &i32)| by_rows[i * SIDE..][..SIDE] == plain[row as usize * SIDE..][..SIDE];
            if !order.iter().enumerate().all(right) {
                return Err("the gathered product differs from the rows of the dense one".into());
            }
        }
    }
    Ok(())
}

/// Milliseconds of each repetition, each after the L2 cache was filled with lines that were read.
fn with_clean_cache(timer: &Timer, reps: u32, mut run: impl FnMut(&Stream) -> triton::Result<()>) -> Outcome<f64> {
    let stream = &timer.stream;
    let (other, mut parts) = (stream.zeros::<f32>(1 << 26)?, stream.zeros::<f32>(16 << 13)?);
    let mut events = Vec::new();
    for _ in 0..reps + 5 {
        let (mut done, mut out) = (stream.scratch::<i32>(128)?, stream.scratch::<f32>(1 << 13)?);
        let views = (parts.view_mut([16, 1 << 13])?, done.view_mut([128])?, out.view_mut([1 << 13])?);
        column_sums::<512>(other.view([1 << 13; 2])?, views.0, views.1, views.2).launch(stream, (128, 16))?;
        let start = stream.record_timed_event()?;
        run(stream)?;
        events.push((start, stream.record_timed_event()?));
    }
    stream.synchronize()?;
    let ms: triton::Result<Vec<f64>> =
        events[5..].iter().map(|(start, end)| Ok(end.since(start)?.as_secs_f64() * 1e3)).collect();
    Ok(median(&ms?).unwrap_or(f64::NAN))
}

/// Sums of the columns of 8192 rows of 8192, beside a copy that moves as many bytes; and whether small ones are exact, again and again.
fn sums(options: &Options, timer: &mut Timer, seed: u64) -> Outcome {
    let stream = timer.stream.clone();
    let side = 1usize << 13;
    let whole: Vec<f32> = data::random::<bf16>(side * side, seed).iter().map(|v| v.to_f32().round()).collect();
    let expected: Vec<f32> = (0..side).map(|j| (0..side).map(|i| whole[i * side + j]).sum()).collect();
    let x = stream.upload(&whole)?;
    let mut target = stream.uninit::<f32>(side * side / 2)?;
    let mut parts = stream.uninit::<f32>(side / 256 * side)?;
    let mut out = stream.zeros::<f32>(side)?;
    for _ in 0..2 {
        let half = side * side / 2;
        let copied = with_clean_cache(timer, options.reps, |stream| {
            let launch = copy::<f32, 512>(&x, &mut target, half as i32);
            // SAFETY: both have at least `half` elements, below which the mask keeps accesses.
            #[allow(unsafe_code, reason = "a kernel over raw pointers")]
            unsafe {
                launch.launch(stream, half.div_ceil(512))
            }
        })?;
        println!("copy of {} MB: {copied:.4} ms", side * side * 2 / 1_000_000);
        for (i, member) in column_sums_pool().members().iter().enumerate() {
            let rows = member.choice().ROWS as usize;
            let slices = side / rows;
            let mut sum = |stream: &Stream| {
                let mut done = stream.scratch::<i32>(side / 64)?;
                let mut parts = parts.slice_mut(..slices * side)?;
                let (parts, done) = (parts.view_mut([slices, side])?, done.view_mut([side / 64])?);
                let tuned = column_sums_tuned(x.view([side; 2])?, parts, done, out.view_mut([side])?);
                tuned.choose(i).launch(stream, |_| (side / 64, slices))
            };
            let clean = with_clean_cache(timer, options.reps, &mut sum)?;
            let dirty = median(&timer.time(5, options.reps, |stream| Ok(sum(stream)?))?).unwrap_or(f64::NAN);
            println!(
                "column sums f32 {side}^2, {rows} rows a program: {clean:.4} ms, {:.3} of copy; {dirty:.4} ms after writes",
                copied / clean
            );
            if stream.download(&out)? != expected {
                return Err("the sums of the columns are wrong".into());
            }
        }
    }
    let (rows, columns) = (2048usize, 256usize);
    let expected: Vec<f32> = (0..columns).map(|j| (0..rows).map(|i| whole[i * side + j]).sum()).collect();
    let mut failed = 0;
    for _ in 0..10_000 {
        let mut done = stream.scratch::<i32>(columns / 64)?;
        let slices = rows / 256;
        let view = x.view([rows, columns])?.with_strides([side as isize, 1])?;
        let (mut parts, mut of) = (parts.slice_mut(..slices * columns)?, out.slice_mut(..columns)?);
        let (parts, of) = (parts.view_mut([slices, columns])?, of.view_mut([columns])?);
        column_sums::<256>(view, parts, done.view_mut([columns / 64])?, of).launch(&stream, (columns / 64, slices))?;
        failed += usize::from(stream.download(&out)?[..columns] != expected);
    }
    println!("column sums f32 {rows}x{columns} in 10000 launches: {failed} wrong");
    if failed == 0 { Ok(()) } else { Err("sums in one launch are wrong".into()) }
}

/// Twenty small launches, one by one and as a graph.
fn graphs(stream: &Stream) -> Outcome {
    let mut x = stream.zeros::<i32>(256)?;
    let graph =
        stream.capture(|stream| (0..20).try_for_each(|_| add_to::<1, 10>(x.view_mut([256])?).launch(stream, 1)))?;
    let (mut one_by_one, mut as_graph) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let begin = Instant::now();
        for _ in 0..50 {
            for _ in 0..20 {
                add_to::<1, 10>(x.view_mut([256])?).launch(stream, 1)?;
            }
        }
        stream.synchronize()?;
        one_by_one.push(begin.elapsed().as_secs_f64() * 1e6 / 50.0);
        let begin = Instant::now();
        for _ in 0..50 {
            graph.launch(stream)?;
        }
        stream.synchronize()?;
        as_graph.push(begin.elapsed().as_secs_f64() * 1e6 / 50.0);
    }
    let [one_by_one, as_graph] = [one_by_one, as_graph].map(|us| median(&us).unwrap_or(f64::NAN));
    println!(
        "20 small launches: {one_by_one:.1} us one by one, {as_graph:.1} us as a graph, {:.2} times",
        one_by_one / as_graph
    );
    let sum = 50 * 50 * 2 * 20 * 11;
    if stream.download(&x)? == vec![sum; 256] { Ok(()) } else { Err("launches of the graph were lost".into()) }
}

/// A launch of the last of 64 members, beside one of the instance itself.
fn pools(stream: &Stream) -> Outcome {
    let mut x = stream.zeros::<i32>(256)?;
    let (mut direct, mut pooled) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        let begin = Instant::now();
        for _ in 0..200 {
            add_to::<8, 80>(x.view_mut([256])?).launch(stream, 1)?;
        }
        direct.push(begin.elapsed().as_secs_f64() * 1e9 / 200.0);
        stream.synchronize()?;
        let begin = Instant::now();
        for _ in 0..200 {
            add_to_tuned(x.view_mut([256])?).find(|of| of.A == 8 && of.B == 80).launch(stream, |_| 1)?;
        }
        pooled.push(begin.elapsed().as_secs_f64() * 1e9 / 200.0);
        stream.synchronize()?;
    }
    let [direct, pooled] = [direct, pooled].map(|ns| median(&ns).unwrap_or(f64::NAN));
    println!("host time of a launch: {direct:.0} ns, from a pool of 64 {pooled:.0} ns");
    if stream.download(&x)? == vec![200 * 400 * 88; 256] { Ok(()) } else { Err("launches were lost".into()) }
}
