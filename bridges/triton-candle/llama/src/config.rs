//! Sizes of a decoder, and weights to try it with.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarBuilder;
use std::collections::HashMap;

/// Sizes of a decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Tokens that there are.
    pub vocabulary: usize,
    /// Elements of a token.
    pub hidden: usize,
    /// Elements of a token between the two products of a feed-forward part.
    pub intermediate: usize,
    /// Layers.
    pub layers: usize,
    /// Heads of queries, which divide `hidden`.
    pub heads: usize,
    /// Heads of keys and values, which divide those of queries.
    pub key_heads: usize,
    /// Of the norms.
    pub epsilon: f64,
    /// The base of the angles of positions.
    pub theta: f32,
    /// The most tokens of a sequence.
    pub positions: usize,
}

impl Config {
    /// Small enough for a test on the CPU.
    pub fn tiny() -> Config {
        let (vocabulary, hidden, intermediate, layers) = (61, 64, 112, 2);
        Config {
            vocabulary,
            hidden,
            intermediate,
            layers,
            heads: 4,
            key_heads: 2,
            epsilon: 1e-5,
            theta: 1e4,
            positions: 32,
        }
    }

    /// The sizes of Llama 3.2 with 1.2 billion weights, of which the embeddings are two tables here.
    pub fn one_billion() -> Config {
        let (vocabulary, hidden, intermediate, layers) = (128_256, 2048, 8192, 16);
        Config {
            vocabulary,
            hidden,
            intermediate,
            layers,
            heads: 32,
            key_heads: 8,
            epsilon: 1e-5,
            theta: 5e5,
            positions: 2048,
        }
    }

    /// Elements of a head.
    pub fn width(&self) -> usize {
        self.hidden / self.heads
    }

    /// Every weight with its name and shape.
    pub fn weights(&self) -> Vec<(String, Vec<usize>)> {
        let (h, i, keys) = (self.hidden, self.intermediate, self.key_heads * self.width());
        let mut weights = vec![
            ("model.embed_tokens".to_string(), vec![self.vocabulary, h]),
            ("model.norm".to_string(), vec![h]),
            ("lm_head".to_string(), vec![self.vocabulary, h]),
        ];
        for layer in 0..self.layers {
            let of_layer: [(&str, Vec<usize>); 9] = [
                ("input_layernorm", vec![h]),
                ("self_attn.q_proj", vec![h, h]),
                ("self_attn.k_proj", vec![keys, h]),
                ("self_attn.v_proj", vec![keys, h]),
                ("self_attn.o_proj", vec![h, h]),
                ("post_attention_layernorm", vec![h]),
                ("mlp.gate_proj", vec![i, h]),
                ("mlp.up_proj", vec![i, h]),
                ("mlp.down_proj", vec![h, i]),
            ];
            weights.extend(of_layer.map(|(name, shape)| (format!("model.layers.{layer}.{name}"), shape)));
        }
        weights.into_iter().map(|(name, shape)| (name + ".weight", shape)).collect()
    }

    /// Normal weights of that standard deviation; those of norms are around one.
    ///
    /// # Errors
    /// Of the device.
    pub fn random_weights(&self, deviation: f32, dtype: DType, device: &Device) -> Result<VarBuilder<'static>> {
        let mut tensors = HashMap::new();
        for (name, shape) in self.weights() {
            let mean = if shape.len() == 1 { 1.0 } else { 0.0 };
            tensors.insert(name, Tensor::randn(mean, deviation, shape, device)?.to_dtype(dtype)?);
        }
        Ok(VarBuilder::from_tensors(tensors, dtype, device))
    }

    /// Cosines and sines of the angles of positions, `[positions, width / 2]` (Su et al. 2021, §3.2.2).
    pub(crate) fn rotations(&self, dtype: DType, device: &Device) -> Result<(Tensor, Tensor)> {
        let half = self.width() / 2;
        let angle = |at: usize| {
            let (position, pair) = (at / half, at % half);
            position as f32 / self.theta.powf(pair as f32 / half as f32)
        };
        let angles: Vec<f32> = (0..self.positions * half).map(angle).collect();
        let angles = Tensor::from_vec(angles, (self.positions, half), device)?;
        Ok((angles.cos()?.to_dtype(dtype)?, angles.sin()?.to_dtype(dtype)?))
    }
}
