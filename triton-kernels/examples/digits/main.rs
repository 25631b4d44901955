//! Learns to read handwritten digits: a network of two layers, made of the operations of `triton-kernels` and a kernel of its own.
//!
//! `cargo run --release -p triton-kernels --example digits` uses the best device of this machine; `-- --device cpu`,
//! `-- --device cuda` and `-- --device sim` choose one. It takes about a minute on two cores.
//!
//! A device learns the same each time, to the bit: random choices are made on the host, and products are `deterministic`, as all else is anyway. Between devices the last bit of an exponential may differ, and the tiles of a product. The mean loss of
//! an epoch moves by some 1e-8 of itself then, and with it the weights, until a ReLU is open on one device and closed on the other;
//! from there the two learn different things equally well, and their losses come to differ by up to 1e-1.
//!
//! `--losses FILE` writes the losses of each epoch, and `--compare FILE` fails if one is further than 1e-5 of itself from the
//! one in the file. So it compares all epochs of one device, and the first few of two: `--epochs 3`.

mod data;
mod network;
mod show;
#[cfg(test)]
mod tests;

use clap::Parser;
use data::Digits;
use indicatif::{ProgressBar, ProgressStyle};
use network::{Images, Network};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use triton::prelude::*;
use triton_collective::{Communicator, devices_from, on_all};
use triton_kernels::optim::SgdOptions;

/// Images that a step learns from.
const BATCH: usize = 64;

/// Largest difference between the losses of two devices, relative to the loss; the top of this page says why.
const BOUND: f64 = 1e-5;

/// Learns to read handwritten digits, on the GPU or on the CPU.
#[derive(Parser)]
struct Options {
    /// Where to learn; the best device if it is not given
    #[arg(long)]
    device: Option<Device>,
    /// How many devices, from that one on: each learns from a part of every batch
    #[arg(long, default_value_t = 1, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    devices: usize,
    /// The random seed: weights, order and distortion of the images
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How often every image is seen: 80 times, on the simulator 10 times
    #[arg(long)]
    epochs: Option<usize>,
    /// Writes the loss of each epoch, a line each
    #[arg(long, value_name = "FILE")]
    losses: Option<PathBuf>,
    /// Compares the losses with those that another run wrote
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("digits: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What ends a run, on any thread.
type Failure = Box<dyn Error + Send + Sync>;

fn run(options: &Options) -> Result<(), Failure> {
    let device = options.device.clone().unwrap_or_else(Device::best);
    println!(
        "device: {device}{}",
        if options.devices > 1 { format!(", {} of it", options.devices) } else { String::new() }
    );
    let epochs = options.epochs.unwrap_or(if device.is_sim() { 10 } else { 80 });
    if device.is_sim() {
        println!("the simulator is slow: it learns for {epochs} of 80 epochs unless `--epochs` says otherwise");
    }
    let (train, test) = Digits::load()?;
    println!("{} images to learn from, {} to be tested with", train.len(), test.len());

    // Each rank makes the same random choices.
    let learnt = on_all(&devices_from(&device, options.devices)?, |communicator| -> Result<_, Failure> {
        let (stream, mut random) = (communicator.device().stream()?, fastrand::Rng::with_seed(options.seed));
        if communicator.world() > 1 {
            load(&stream, &train)?;
        }
        let mut network = Network::new(&stream, communicator, &mut random)?;
        let losses = learn(&mut network, &stream, &train, &mut random, epochs, communicator.rank() == 0)?;
        let mut images = Images::upload(&stream, &test)?;
        network.read(&mut images, 0..test.len(), 1.0)?;
        Ok((losses, stream.download(&images.guess)?))
    })?;
    if learnt.iter().any(|rank| *rank != learnt[0]) {
        return Err("the ranks have learnt different things".into());
    }
    let (losses, guess) = learnt.into_iter().next().unwrap_or_default();
    if let Some(file) = &options.losses {
        std::fs::write(file, losses.iter().map(|loss| format!("{loss}\n")).collect::<String>())?;
    }
    let compared = options.compare.as_ref().map_or(Ok(()), |file| compare(&losses, file));

    let (right, wrong): (Vec<usize>, Vec<usize>) = (0..test.len()).partition(|&i| guess[i] == test.labels[i]);
    for images in [&right, &wrong] {
        println!("\n{}", show::row(&test, &guess, &images[..images.len().min(8)]));
    }
    println!("\nloss of the last epoch: {}", losses.last().copied().unwrap_or_default());
    println!("test accuracy: {:.3}", right.len() as f64 / test.len() as f64);
    compared
}

/// Learns once without the other ranks: a kernel that is loaded while a collective waits for this rank can stop both.
fn load(stream: &Stream, digits: &Digits) -> triton_kernels::Result<()> {
    let alone = Communicator::alone(stream.device()).map_err(triton::Error::from)?;
    let mut network = Network::new(stream, &alone, &mut fastrand::Rng::new())?;
    let mut images = Images::upload(stream, digits)?;
    network.learn(&mut images, 0..BATCH, sgd(0.0, 0.0))?;
    Ok(stream.synchronize()?)
}

/// Shows the network every image once an epoch, in a new order and newly drawn, and returns the mean loss of each epoch. One rank shows how far it is.
fn learn(
    network: &mut Network,
    stream: &Stream,
    digits: &Digits,
    random: &mut fastrand::Rng,
    epochs: usize,
    shows: bool,
) -> Result<Vec<f64>, Failure> {
    let style = ProgressStyle::with_template("{bar:40} epoch {pos} of {len}, {msg}")?;
    let bar = if shows { ProgressBar::new(epochs as u64) } else { ProgressBar::hidden() };
    let progress = bar.with_style(style);
    let mut losses = Vec::new();
    for epoch in 0..epochs {
        let redrawn = digits.redrawn(random);
        let mut images = Images::upload(stream, &redrawn)?;
        // The rate falls to nothing, so that the last steps settle what the first ones stirred up.
        let options = sgd(0.2 * (1.0 - epoch as f32 / epochs as f32), 0.9);
        for start in (0..digits.len()).step_by(BATCH) {
            network.learn(&mut images, start..digits.len().min(start + BATCH), options)?;
        }
        network.gather(&mut images)?;
        let loss: f64 = stream.download(&images.loss)?.into_iter().map(f64::from).sum();
        let guess = stream.download(&images.guess)?;
        let right = guess.iter().zip(&redrawn.labels).filter(|(guess, label)| guess == label).count();
        losses.push(loss / digits.len() as f64);
        let message = format!("loss {:.4}, accuracy {:.3}", losses[epoch], right as f64 / digits.len() as f64);
        // The bar is for terminals; these lines stay, also in a file.
        if shows && (epoch + 1) % 10 == 0 {
            progress.suspend(|| println!("epoch {}: {message}", epoch + 1));
        }
        progress.set_message(message);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(losses)
}

/// Stochastic gradient descent with momentum.
fn sgd(rate: f32, momentum: f32) -> SgdOptions {
    SgdOptions { rate, momentum, ..SgdOptions::default() }
}

/// Compares losses with those in a file, epoch by epoch.
fn compare(losses: &[f64], file: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let others: Vec<f64> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
    if others.len() != losses.len() {
        return Err(format!("{} has {} epochs, this run {}", file.display(), others.len(), losses.len()).into());
    }
    let mut worst = 0.0;
    for (epoch, (loss, other)) in losses.iter().zip(&others).enumerate() {
        let difference = (loss - other).abs() / other.abs();
        if difference > BOUND || difference.is_nan() {
            let (epoch, file) = (epoch + 1, file.display());
            return Err(
                format!("epoch {epoch}: a loss of {loss}, but {other} in {file}: {difference:.1e} of it").into()
            );
        }
        worst = difference.max(worst);
    }
    println!("losses as in {}: the largest relative difference is {worst:.1e}", file.display());
    Ok(())
}
