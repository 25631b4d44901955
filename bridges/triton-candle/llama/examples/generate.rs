//! Generates tokens with random weights, by our modules, by candle's, and by the model of candle-transformers: logits, and tokens a second.
//!
//! `generate [cpu|cuda] [tiny|1b] [PROMPT] [TOKENS]`

#[path = "../tests/common/mod.rs"]
mod common;

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::llama as theirs;
use common::their_config;
use std::time::Instant;
use triton_candle_llama::{Config, Decoder, Modules};

/// Runs a model over a prompt and then token by token, greedily: the logits of the prompt, seconds for it and for the rest.
fn generate(
    prompt: &Tensor,
    count: usize,
    mut step: impl FnMut(&Tensor) -> Result<Tensor>,
) -> Result<(Tensor, f64, f64)> {
    let device = prompt.device().clone();
    device.synchronize()?;
    let start = Instant::now();
    let logits = step(prompt)?;
    device.synchronize()?;
    let first = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut next = logits.argmax_keepdim(D::Minus1)?;
    for _ in 0..count {
        next = step(&next)?.argmax_keepdim(D::Minus1)?;
    }
    device.synchronize()?;
    Ok((logits, first, start.elapsed().as_secs_f64()))
}

/// The logits of candle-transformers with the same weights in single precision.
fn exact_logits(config: &Config, weights: &VarBuilder<'_>, of: &theirs::Config, prompt: &Tensor) -> Result<Tensor> {
    let single = config.weights().into_iter().map(|(name, shape)| {
        let weight = weights.get(shape, &name)?.to_dtype(DType::F32)?;
        Ok((name, weight))
    });
    let weights = VarBuilder::from_tensors(single.collect::<Result<_>>()?, DType::F32, prompt.device());
    let mut cache = theirs::Cache::new(false, DType::F32, of, prompt.device())?;
    theirs::Llama::load(weights, of)?.forward(prompt, 0, &mut cache)
}

/// The root of the mean of squares of differences, over that of the logits.
fn off(logits: &Tensor, exact: &Tensor) -> Result<f32> {
    let root = |x: Tensor| x.sqr()?.mean_all()?.sqrt()?.to_scalar::<f32>();
    Ok(root((logits - exact)?)? / root(exact.clone())?)
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.to_string());
    let number = |i: usize, default: usize| args.get(i).and_then(|arg| arg.parse().ok()).unwrap_or(default);
    let device = if word(0, "cpu") == "cuda" { Device::new_cuda(0)? } else { Device::Cpu };
    let (config, deviation) =
        if word(1, "tiny") == "1b" { (Config::one_billion(), 0.02) } else { (Config::tiny(), 0.1) };
    let (length, count) = (number(2, 16), number(3, 8));
    let weights = config.random_weights(deviation, DType::BF16, &device)?;
    let prompt: Vec<u32> = (0..length).map(|i| (i * 7919 % config.vocabulary) as u32).collect();
    let prompt = Tensor::from_vec(prompt, (1, length), &device)?;
    let of = their_config(&config);
    let model = theirs::Llama::load(weights.clone(), &of)?;
    let exact = exact_logits(&config, &weights, &of, &prompt)?;
    println!("| model | prompt of {length}, ms | tokens a second | logits beside those in F32 |\n|---|---|---|---|");
    for round in 0..2 {
        // The first round loads kernels.
        let report = |name: &str, (logits, first, rest): (Tensor, f64, f64)| -> Result<()> {
            if round == 1 {
                let (first, rate, off) = (first * 1e3, count as f64 / rest, off(&logits, &exact)?);
                println!("| {name} | {first:.2} | {rate:.0} | {off:.2e} |");
            }
            Ok(())
        };
        let (mut cache, mut at) = (theirs::Cache::new(true, DType::BF16, &of, &device)?, 0);
        let step = |tokens: &Tensor| {
            let logits = model.forward(tokens, at, &mut cache)?;
            at += tokens.dim(1)?;
            Ok(logits)
        };
        report("candle-transformers", generate(&prompt, count, step)?)?;
        for modules in [Modules::Candle, Modules::Triton] {
            let decoder = Decoder::load(&config, modules, weights.clone())?;
            let mut cache = decoder.cache();
            let of_modules = generate(&prompt, count, |tokens| decoder.forward(tokens, &mut cache))?;
            report(&format!("modules of {modules:?}"), of_modules)?;
        }
    }
    Ok(())
}
