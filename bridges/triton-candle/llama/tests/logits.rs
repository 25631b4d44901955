//! Logits of our modules, of candle's modules, and of candle-transformers' model, with the same weights.
//! `TRITON_CANDLE_DEVICE=cuda` runs them on a GPU, with the feature `cuda`.

#[path = "common/mod.rs"]
mod common;
#[path = "../../tests/common/device.rs"]
mod on;

use candle_core::{DType, Device, Result, Tensor};
use candle_transformers::models::llama as theirs;
use common::their_config;
use on::device;
use triton_candle_llama::{Config, Decoder, Modules};

/// The tokens of a prompt, and those that follow one by one.
fn tokens(config: &Config, device: &Device) -> Result<Vec<Tensor>> {
    let tokens: Vec<u32> = (0..12).map(|i| (i * i * 7 + 3) % config.vocabulary as u32).collect();
    let tokens = Tensor::from_vec(tokens, (1, 12), device)?;
    Ok([(0, 8), (8, 1), (9, 1), (10, 2)].iter().map(|(at, n)| tokens.narrow(1, *at, *n)).collect::<Result<_>>()?)
}

fn ours(
    config: &Config,
    modules: Modules,
    weights: candle_nn::VarBuilder<'_>,
    tokens: &[Tensor],
) -> Result<Vec<Vec<f32>>> {
    let decoder = Decoder::load(config, modules, weights)?;
    let mut cache = decoder.cache();
    tokens.iter().map(|tokens| decoder.forward(tokens, &mut cache)?.flatten_all()?.to_vec1()).collect()
}

fn transformers(config: &Config, weights: candle_nn::VarBuilder<'_>, tokens: &[Tensor]) -> Result<Vec<Vec<f32>>> {
    let (of, dtype, device) = (their_config(config), weights.dtype(), weights.device().clone());
    let model = theirs::Llama::load(weights, &of)?;
    let mut cache = theirs::Cache::new(true, dtype, &of, &device)?;
    let mut first = 0;
    let step = |tokens: &Tensor| {
        let logits = model.forward(tokens, first, &mut cache)?.flatten_all()?.to_vec1();
        first += tokens.dim(1)?;
        logits
    };
    tokens.iter().map(step).collect()
}

/// The largest difference, over the largest logit.
fn difference(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    let most = b.iter().flatten().fold(0f32, |most, x| most.max(x.abs()));
    let of = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs());
    assert!(most > 0.1, "the logits are about 0: {most}");
    of.fold(0f32, f32::max) / most
}

fn compare(dtype: DType, bound: f32) -> Result<()> {
    let (config, device) = (Config::tiny(), device());
    let single = config.random_weights(0.1, DType::F32, &device)?;
    let of = |dtype| -> Result<candle_nn::VarBuilder<'static>> {
        let tensors = config.weights().into_iter().map(|(name, shape)| {
            let tensor = single.get(shape, &name)?.to_dtype(DType::BF16)?.to_dtype(dtype)?;
            Ok((name, tensor))
        });
        Ok(candle_nn::VarBuilder::from_tensors(tensors.collect::<Result<_>>()?, dtype, &device))
    };
    let tokens = tokens(&config, &device)?;
    let exact = transformers(&config, of(DType::F32)?, &tokens)?;
    let theirs = difference(&transformers(&config, of(dtype)?, &tokens)?, &exact);
    for modules in [Modules::Candle, Modules::Triton] {
        let ours = difference(&ours(&config, modules, of(dtype)?, &tokens)?, &exact);
        println!("{dtype:?}, {modules:?}: {ours:.1e} of the largest logit; candle-transformers {theirs:.1e}");
        assert!(ours <= bound, "{dtype:?}, {modules:?}: {ours}");
    }
    Ok(())
}

#[test]
fn single_precision() -> Result<()> {
    compare(DType::F32, 1e-5)
}

#[test]
fn half_precision() -> Result<()> {
    compare(DType::BF16, 2e-2)
}

#[test]
fn more_tokens_than_positions_are_refused() -> Result<()> {
    let config = Config { positions: 4, ..Config::tiny() };
    let decoder = Decoder::load(&config, Modules::Triton, config.random_weights(0.1, DType::F32, &Device::Cpu)?)?;
    let mut cache = decoder.cache();
    let tokens = Tensor::zeros((1, 3), DType::U32, &Device::Cpu)?;
    decoder.forward(&tokens, &mut cache)?;
    let error = decoder.forward(&tokens, &mut cache).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("6 tokens, but the decoder has 4 positions"), "{error}");
    assert_eq!(cache.tokens(), 3);
    Ok(())
}
