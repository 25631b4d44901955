//! A decoder of Llama's shape (Touvron et al. 2023, §2.2; grouped queries of Ainslie et al. 2023) on candle, whose modules are candle's or
//! those of `triton-candle`: a switch, everything else is the same.
//!
//! ```
//! use candle_core::{DType, Device, Tensor};
//! use triton_candle_llama::{Config, Decoder, Modules};
//!
//! # fn main() -> candle_core::Result<()> {
//! let config = Config::tiny();
//! let weights = config.random_weights(0.1, DType::F32, &Device::Cpu)?;
//! let decoder = Decoder::load(&config, Modules::Triton, weights)?;
//! let mut cache = decoder.cache();
//! let prompt = Tensor::new(&[[1u32, 5, 2]], &Device::Cpu)?;
//! // The logits of the last token, and then those of one more.
//! assert_eq!(decoder.forward(&prompt, &mut cache)?.dims(), [1, config.vocabulary]);
//! assert_eq!(decoder.forward(&Tensor::new(&[[7u32]], &Device::Cpu)?, &mut cache)?.dims(), [1, config.vocabulary]);
//! # Ok(())
//! # }
//! ```

mod config;
mod modules;

pub use config::Config;
pub use modules::Modules;

use candle_core::{D, DType, Module, Result, Tensor};
use candle_nn::VarBuilder;
use candle_nn::kv_cache::KvCache;
use modules::{Embedding, Linear, Norm};

/// Keys and values of the tokens so far, of each layer.
pub struct Cache(Vec<KvCache>);

impl Cache {
    /// How many tokens there are.
    pub fn tokens(&self) -> usize {
        self.0.first().map_or(0, KvCache::current_seq_len)
    }
}

struct Layer {
    attention_norm: Norm,
    /// Queries, keys and values in one product.
    qkv: Linear,
    out: Linear,
    gate_norm: Norm,
    /// The gates and what they gate in one product.
    gate_up: Linear,
    down: Linear,
}

/// Token embeddings, layers, a norm and logits.
pub struct Decoder {
    config: Config,
    modules: Modules,
    embedding: Embedding,
    layers: Vec<Layer>,
    norm: Norm,
    head: Linear,
    cosines: Tensor,
    sines: Tensor,
}

impl Decoder {
    /// With weights by the names of published checkpoints: `model.layers.0.self_attn.q_proj.weight` and so on.
    ///
    /// # Errors
    /// Those of the builder, of a weight that is absent or has another shape.
    pub fn load(config: &Config, modules: Modules, weights: VarBuilder<'_>) -> Result<Decoder> {
        let (hidden, inner, width) = (config.hidden, config.intermediate, config.width());
        let norm = |of: VarBuilder<'_>| -> Result<Norm> { Ok(modules.norm(of.get(hidden, "weight")?, config.epsilon)) };
        let linear = |inputs, outputs: &[(&str, usize)], of: VarBuilder<'_>| -> Result<Linear> {
            let parts = outputs.iter().map(|(name, rows)| of.get((*rows, inputs), &format!("{name}.weight")));
            Ok(modules.linear(Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 0)?))
        };
        let model = weights.pp("model");
        let layers = (0..config.layers).map(|i| {
            let of = model.pp(format!("layers.{i}"));
            let keys = config.key_heads * width;
            Ok(Layer {
                attention_norm: norm(of.pp("input_layernorm"))?,
                qkv: linear(hidden, &[("q_proj", hidden), ("k_proj", keys), ("v_proj", keys)], of.pp("self_attn"))?,
                out: linear(hidden, &[("o_proj", hidden)], of.pp("self_attn"))?,
                gate_norm: norm(of.pp("post_attention_layernorm"))?,
                gate_up: linear(hidden, &[("gate_proj", inner), ("up_proj", inner)], of.pp("mlp"))?,
                down: linear(inner, &[("down_proj", hidden)], of.pp("mlp"))?,
            })
        });
        let (cosines, sines) = config.rotations(modules.angles(weights.dtype()), weights.device())?;
        Ok(Decoder {
            config: config.clone(),
            modules,
            embedding: modules.embedding(model.get((config.vocabulary, hidden), "embed_tokens.weight")?, hidden),
            layers: layers.collect::<Result<_>>()?,
            norm: norm(model.pp("norm"))?,
            head: linear(hidden, &[("lm_head", config.vocabulary)], weights)?,
            cosines,
            sines,
        })
    }

    /// A cache without tokens.
    pub fn cache(&self) -> Cache {
        Cache(self.layers.iter().map(|_| KvCache::new(2, self.config.positions)).collect())
    }

    /// The logits `[sequences, vocabulary]` in `f32` of the last of the tokens `[sequences, tokens]`, which follow those of the cache.
    ///
    /// # Errors
    /// Of more tokens than the decoder has positions; those of the operations.
    pub fn forward(&self, tokens: &Tensor, cache: &mut Cache) -> Result<Tensor> {
        let (z, l) = tokens.dims2()?;
        let first = cache.tokens();
        if first + l > self.config.positions {
            candle_core::bail!("{} tokens, but the decoder has {} positions", first + l, self.config.positions);
        }
        let rotations = (self.cosines.narrow(0, first, l)?, self.sines.narrow(0, first, l)?);
        let mut x = self.embedding.forward(tokens)?;
        for (layer, cache) in self.layers.iter().zip(&mut cache.0) {
            let of_heads = self.attention(layer, &x, &rotations, cache)?;
            x = layer.out.forward_onto(&of_heads.reshape((z, l, self.config.hidden))?, &x)?;
            let gates = layer.gate_up.forward(&layer.gate_norm.forward(&x)?)?;
            x = layer.down.forward_onto(&self.modules.swiglu(&gates)?, &x)?;
        }
        let last = self.norm.forward(&x.narrow(1, l - 1, 1)?)?;
        self.head.forward(&last)?.squeeze(1)?.to_dtype(DType::F32)
    }

    /// `[sequences, tokens, heads, width]`.
    fn attention(
        &self,
        layer: &Layer,
        x: &Tensor,
        (cos, sin): &(Tensor, Tensor),
        cache: &mut KvCache,
    ) -> Result<Tensor> {
        let (z, l, _) = x.dims3()?;
        let (modules, width, heads, keys) =
            (self.modules, self.config.width(), self.config.heads, self.config.key_heads);
        let qkv = layer.qkv.forward(&layer.attention_norm.forward(x)?)?;
        let part = |first: usize, heads: usize| -> Result<Tensor> {
            qkv.narrow(D::Minus1, first * width, heads * width)?.reshape((z, l, heads, width))?.transpose(1, 2)
        };
        let q = modules.rotary(&part(0, heads)?, cos, sin)?;
        let k = modules.rotary(&part(heads, keys)?, cos, sin)?;
        let (k, v) = cache.append(&k.contiguous()?, &part(heads + keys, keys)?.contiguous()?)?;
        modules.attention(&q, &k, &v)?.transpose(1, 2)
    }
}
