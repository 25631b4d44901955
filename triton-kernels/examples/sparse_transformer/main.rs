//! A transformer's block, as wide as GPT-2's, with dense and with block-sparse attention, trained end to end by gradient descent:
//! `cargo run --release -p triton-kernels --example sparse_transformer -- --device cuda --plot out.svg`.
//!
//! Each context length has the same number of tokens in all. The bound is what the sparse block would take if its arithmetic alone counted, at
//! the rate of the dense one: Tillet's thesis (2020), section 6.4.

mod attention;
mod block;
mod plot;
#[cfg(test)]
mod tests;

use attention::Attention;
use block::{Block, Shape};
use clap::Parser;
use clap::builder::RangedU64ValueParser;
use std::time::Instant;
use triton::prelude::*;
use triton_collective::{Communicator, devices_from, on_all};
use triton_kernels::linear::GemmElement;
use triton_kernels::sparse::{BlockLayout, BlockMask};
use triton_kernels::{FloatElement, Result};

/// A number from 1 on.
fn positive() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

/// Trains a transformer's block, dense and sparse.
#[derive(Parser)]
struct Options {
    /// The device: cpu, sim, cuda, cuda:1
    #[arg(long, default_value = "best")]
    device: Device,
    /// How many devices, from the one that is named on: each learns from as many tokens
    #[arg(long, default_value_t = 1, value_parser = positive())]
    devices: usize,
    /// Tokens of a device in all, of one or several sequences
    #[arg(long, default_value_t = 16384, value_parser = positive())]
    tokens: usize,
    /// Elements of a token
    #[arg(long, default_value_t = 768, value_parser = positive())]
    width: usize,
    /// Heads of attention
    #[arg(long, default_value_t = 12, value_parser = positive())]
    heads: usize,
    /// Tokens of a block of the attention matrix: 16, 32 or 64
    #[arg(long, default_value_t = 32, value_parser = positive())]
    block: usize,
    /// Steps that are timed
    #[arg(long, default_value_t = 10, value_parser = positive())]
    steps: usize,
    /// Numbers of `f32`, not of `bf16`
    #[arg(long)]
    full: bool,
    /// File for the chart, as SVG
    #[arg(long)]
    plot: Option<std::path::PathBuf>,
}

/// What one context length takes.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Tokens of a sequence.
    pub context: usize,
    /// Milliseconds of a step with dense attention.
    pub dense: f64,
    /// Milliseconds of a step with sparse attention.
    pub sparse: f64,
    /// What its arithmetic alone would take.
    pub bound: f64,
}

/// The blocks that a token sees: of a window of an eighth of the context before it, and of the first block.
fn pattern(blocks: usize) -> BlockMask {
    let (reach, all) = ((blocks / 8).max(1), blocks);
    BlockMask::from_fn([1, all, all], move |_, row, column| column <= row && (row - column < reach || column == 0))
}

/// Milliseconds of a step, the median, and the losses of the first and of the last one.
fn train<T>(
    (stream, communicator): (&Stream, &Communicator),
    shape: Shape,
    mut attention: Attention<T>,
    steps: usize,
    of: fn(f32) -> T,
) -> Result<(f64, [f32; 2])>
where
    T: FloatElement + GemmElement<T>,
{
    if communicator.world() > 1 {
        // A kernel that is loaded while a collective waits for this rank can stop both: the first step is without the others.
        let alone = Communicator::alone(stream.device()).map_err(triton::Error::from)?;
        Block::new(stream, &alone, shape, of)?.step(stream, &mut attention)?;
        stream.synchronize()?;
    }
    let mut block = Block::new(stream, communicator, shape, of)?;
    let (mut times, mut losses) = (Vec::new(), Vec::new());
    // The first step compiles.
    for _ in 0..=steps {
        stream.synchronize()?;
        let start = Instant::now();
        block.step(stream, &mut attention)?;
        stream.synchronize()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        losses.push(block.loss(stream)?);
    }
    // All ranks began with the same weights, and have summed the same gradients.
    let (ours, mut all) =
        (stream.tensor(&[block.fingerprint(stream)?], [1])?, stream.tensor_zeros::<u64, _>([communicator.world()])?);
    communicator.all_gather(stream, &ours, &mut all).map_err(triton::Error::from)?;
    let all = stream.download(&all)?;
    if all.iter().any(|one| *one != all[0]) {
        return Err(triton::Error::other(Different).into());
    }
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok((times.get(times.len() / 2).copied().unwrap_or(0.0), [losses[0], losses[steps]]))
}

/// Multiplications of a step: of projections and the perceptron, and of attention that sees a share of its pairs.
fn operations(shape: &Shape, share: f64) -> f64 {
    let (tokens, context, width) = ((shape.batch * shape.context) as f64, shape.context as f64, shape.width as f64);
    3.0 * tokens * (12.0 * width * width + 2.0 * share * context * width)
}

/// Weights that are not equal on all ranks.
#[derive(Debug, thiserror::Error)]
#[error("the weights of the ranks differ")]
struct Different;

fn run<T>(options: &Options, communicator: &Communicator, of: fn(f32) -> T) -> Result<Vec<Row>>
where
    T: FloatElement + GemmElement<T>,
{
    let stream = communicator.device().stream()?;
    let first = communicator.rank() == 0;
    let Options { device, devices, tokens, width, .. } = options;
    let heading = format!(
        "{device}, {devices} of it, {tokens} tokens of {width} elements each, {}\n{:>8} {:>10} {:>10} {:>10} {:>8} {:>8}  loss",
        T::DTYPE,
        "context",
        "dense ms",
        "sparse ms",
        "bound ms",
        "ratio",
        "density"
    );
    if first {
        println!("{heading}");
    }
    let mut rows = Vec::new();
    let mut context = options.tokens.min(1024);
    while context <= options.tokens {
        let Options { width, heads, block, steps, .. } = *options;
        let shape = Shape { batch: options.tokens / context, context, width, heads };
        let layout = BlockLayout::new(&stream, block, &pattern(context / block).repeat(heads))?;
        let density = layout.density();
        let (dense, _) = train((&stream, communicator), shape, Attention::dense(), steps, of)?;
        let (sparse, [begun, last]) =
            train((&stream, communicator), shape, Attention::sparse(&stream, &shape, layout)?, steps, of)?;
        // Half of a causal matrix is seen.
        let bound = dense * operations(&shape, density) / operations(&shape, 0.5);
        let ratio = dense / sparse;
        if first {
            println!(
                "{context:8} {dense:10.2} {sparse:10.2} {bound:10.2} {ratio:8.2} {density:8.3}  {begun:.4} to {last:.4}"
            );
        }
        rows.push(Row { context, dense, sparse, bound });
        context *= 2;
    }
    Ok(rows)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let all = on_all(&devices_from(&options.device, options.devices)?, |communicator| {
        if options.full || options.device.is_cpu() {
            run::<f32>(&options, communicator, |v| v)
        } else {
            run::<bf16>(&options, communicator, bf16::from_f32)
        }
    })?;
    let rows = all.into_iter().next().unwrap_or_default();
    if let Some(path) = &options.plot {
        plot::draw(path, &rows)?;
        println!("{}", path.display());
    }
    Ok(())
}
