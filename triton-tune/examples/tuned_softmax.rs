//! Softmax of rows of 12672 columns by eight instances, of which the tuner picks one on a GPU.
//!
//! `cargo run --release -p triton-tune --example tuned_softmax` measures at the first run and keeps the times in a file; a second run launches the
//! winner at once. It prints what was chosen and how long that took, checks the result, and times every instance for
//! comparison. On a machine without a GPU the first instance runs, on the CPU.

use std::time::{Duration, Instant};
use triton::prelude::*;
use triton_tune::Tuner;

/// out = softmax(x) along the last axis, a row a program: the row in registers, or in pieces that are read twice.
#[triton::kernel(tune = [N, LOOP], configs = [
    (N = 16384, LOOP = false, num_warps = 4), (N = 16384, LOOP = false, num_warps = 8),
    (N = 16384, LOOP = false, num_warps = 16), (N = 16384, LOOP = false, num_warps = 32),
    (N = 1024, LOOP = true, num_warps = 4), (N = 2048, LOOP = true, num_warps = 8),
    (N = 4096, LOOP = true, num_warps = 8), (N = 4096, LOOP = true, num_warps = 16),
])]
fn softmax<const N: i32, const LOOP: bool>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    if LOOP {
        // Below every number, so that no difference is infinite.
        let (mut top, mut total) = (full([1, N], f32::MIN), zeros::<f32>([1, N]));
        for c in (0..x.dim(1)).step_by(N) {
            let v = x.load_or([row, c], [1, N], f32::NEG_INFINITY);
            let next = maximum(top, v);
            total = total * exp(top - next) + exp(v - next);
            top = next;
        }
        let most = max_axis(top, 1).expand_dims(1);
        let sum = sum_axis(total * exp(top - most), 1).expand_dims(1);
        for c in (0..x.dim(1)).step_by(N) {
            out.store([row, c], exp(x.load([row, c], [1, N]) - most) / sum);
        }
    } else {
        let v = x.load_or([row, 0], [1, N], f32::NEG_INFINITY);
        let e = exp(v - max_axis(v, 1).expand_dims(1));
        out.store([row, 0], e / sum_axis(e, 1).expand_dims(1));
    }
}

const COLUMNS: usize = 12672;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best();
    let rows = if device.is_cpu() { 4 } else { 4096 };
    let start = Instant::now();
    let tuner = Tuner::new(&device)?.check(1e-5);
    println!("{device}: {} times were known, read in {:?}", tuner.store().table().len(), start.elapsed());

    let stream = device.stream()?;
    let numbers: Vec<f32> = (0..rows * COLUMNS).map(|i| (i * 7919 % 1009) as f32 * 0.02 - 10.0).collect();
    let (x, mut out) = (stream.upload(&numbers)?, stream.uninit::<f32>(rows * COLUMNS)?);
    stream.synchronize()?;

    let mut grids = 0;
    let mut chosen = None;
    let start = Instant::now();
    softmax_tuned(x.view([rows, COLUMNS])?, out.view_mut([rows, COLUMNS])?)
        .legal(|choice| choice.LOOP || choice.N as usize >= COLUMNS)
        .with(&tuner)
        .launch(&stream, |choice| {
            (grids, chosen) = (grids + 1, Some(*choice));
            rows
        })?;
    let enqueued = start.elapsed();
    stream.synchronize()?;
    let chosen = chosen.ok_or("nothing was launched")?;
    println!("{chosen}, after {grids} grids were asked for, enqueued in {enqueued:?}, done in {:?}", start.elapsed());

    let worst = worst_error(&numbers, &stream.download(&out)?);
    println!("the largest relative error is {worst:.1e}");
    another_key(&stream, &tuner, &x, rows)?;
    if worst > 1e-5 {
        return Err(format!("the result is wrong by {worst}").into());
    }
    if device.is_cpu() {
        return every_member(&stream, &numbers, &x, &mut out, rows);
    }
    compare(&stream, &x, &mut out, rows, &chosen)?;
    overhead(&stream, &tuner, &chosen)
}

/// Selects for fewer columns: the code is loaded, so that a first selection is its measurements alone.
fn another_key(stream: &Stream, tuner: &Tuner, x: &Buffer<f32>, rows: usize) -> triton::Result<()> {
    let columns = COLUMNS - 64;
    let mut out = stream.uninit::<f32>(rows * columns)?;
    stream.synchronize()?;
    let start = Instant::now();
    softmax_tuned(x.view([rows, columns])?, out.view_mut([rows, columns])?)
        .legal(|choice| choice.LOOP || choice.N as usize >= columns)
        .with(tuner)
        .launch(stream, |_| rows)?;
    stream.synchronize()?;
    println!("{columns} columns: done in {:?}", start.elapsed());
    Ok(())
}

/// Checks every instance.
fn every_member(
    stream: &Stream,
    numbers: &[f32],
    x: &Buffer<f32>,
    out: &mut Buffer<f32>,
    rows: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    for member in softmax_pool().members() {
        stream.fill(out, 0.0)?;
        softmax_tuned(x.view([rows, COLUMNS])?, out.view_mut([rows, COLUMNS])?)
            .find(|choice| choice == member.choice())
            .launch(stream, |_| rows)?;
        let worst = worst_error(numbers, &stream.download(out)?);
        if worst > 1e-5 {
            return Err(format!("{} is wrong by {worst}", member.choice()).into());
        }
    }
    println!("all instances compute it");
    Ok(())
}

/// Times every instance longer than the tuner does.
fn compare(
    stream: &Stream,
    x: &Buffer<f32>,
    out: &mut Buffer<f32>,
    rows: usize,
    chosen: &SoftmaxChoice,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut times = Vec::new();
    for member in softmax_pool().members() {
        let mut launch = || {
            softmax_tuned(x.view([rows, COLUMNS])?, out.view_mut([rows, COLUMNS])?)
                .find(|choice| choice == member.choice())
                .launch(stream, |_| rows)
        };
        (0..10).try_for_each(|_| launch())?;
        let mut batches = Vec::new();
        for _ in 0..11 {
            let start = stream.record_timed_event()?;
            (0..10).try_for_each(|_| launch())?;
            batches.push(stream.record_timed_event()?.since(&start)? / 10);
        }
        batches.sort();
        times.push((batches[5], member.choice()));
    }
    times.sort_by_key(|(time, _)| *time);
    for (time, choice) in &times {
        let bytes = (2 * rows * COLUMNS * size_of::<f32>()) as f64;
        let mark = if *choice == chosen { "  <- the tuner's" } else { "" };
        println!("{:8.1} us, {:.2} TB/s  {choice}{mark}", time.as_secs_f64() * 1e6, bytes / time.as_secs_f64() / 1e12);
    }
    let of = times.iter().find(|(_, choice)| *choice == chosen).map_or(Duration::ZERO, |(time, _)| *time);
    let loss = of.as_secs_f64() / times[0].0.as_secs_f64();
    println!("the tuner's takes {loss:.3} of the best");
    if loss > 1.03 { Err("the tuner has not found the best".into()) } else { Ok(()) }
}

/// The host's time of a launch that selects, beside one whose instance is said.
fn overhead(stream: &Stream, tuner: &Tuner, chosen: &SoftmaxChoice) -> Result<(), Box<dyn std::error::Error>> {
    const LAUNCHES: u32 = 500;
    let (x, mut out) = (stream.zeros::<f32>(COLUMNS)?, stream.uninit::<f32>(COLUMNS)?);
    let index = softmax_pool().members().iter().position(|member| member.choice() == chosen).unwrap_or(0);
    let mut ways = [Vec::new(), Vec::new()];
    for round in 0..42 {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            let tuned = softmax_tuned(x.view([1, COLUMNS])?, out.view_mut([1, COLUMNS])?);
            if round % 2 == 0 {
                tuned.choose(index).launch(stream, |_| 1)?;
            } else {
                tuned.with(tuner).launch(stream, |_| 1)?;
            }
        }
        ways[round % 2].push(start.elapsed() / LAUNCHES);
        stream.synchronize()?;
    }
    let [said, selected] = ways.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_nanos()
    });
    println!("a launch takes the host {said} ns, {selected} ns where it selects");
    Ok(())
}

/// The largest relative error against the definition, in `f64`.
fn worst_error(x: &[f32], out: &[f32]) -> f64 {
    let mut worst = 0.0f64;
    for (x, out) in x.chunks(COLUMNS).zip(out.chunks(COLUMNS)) {
        let top = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let e: Vec<f64> = x.iter().map(|&v| (f64::from(v) - f64::from(top)).exp()).collect();
        let sum: f64 = e.iter().sum();
        for (found, e) in out.iter().zip(&e) {
            worst = worst.max((f64::from(*found) - e / sum).abs() / (e / sum));
        }
    }
    worst
}
