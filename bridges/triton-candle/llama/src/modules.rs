//! The switch: each module is candle's or ours.

use candle_core::{D, DType, Module, Result, Tensor};
use triton_candle::{AttentionOptions, Pairs, nn};

/// Whose modules a decoder is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modules {
    /// Those of `candle-nn`.
    Candle,
    /// Those of `triton-candle`.
    Triton,
}

/// A layer of candle's, or ours.
pub(crate) enum Layer<C, T> {
    Candle(C),
    Triton(T),
}

pub(crate) type Linear = Layer<candle_nn::Linear, nn::Linear>;
pub(crate) type Norm = Layer<candle_nn::RmsNorm, nn::RmsNorm>;
pub(crate) type Embedding = Layer<candle_nn::Embedding, nn::Embedding>;

impl<C: Module, T: Module> Module for Layer<C, T> {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Layer::Candle(of) => of.forward(x),
            Layer::Triton(of) => of.forward(x),
        }
    }
}

impl Linear {
    /// Plus a residual.
    pub fn forward_onto(&self, x: &Tensor, residual: &Tensor) -> Result<Tensor> {
        match self {
            Layer::Candle(of) => of.forward(x)? + residual,
            Layer::Triton(of) => of.forward_onto(x, residual),
        }
    }
}

impl Modules {
    /// Of a weight `[outputs, inputs]`.
    pub(crate) fn linear(self, weight: Tensor) -> Linear {
        match self {
            Modules::Candle => Layer::Candle(candle_nn::Linear::new(weight, None)),
            Modules::Triton => Layer::Triton(nn::Linear::new(weight, None)),
        }
    }

    pub(crate) fn norm(self, weight: Tensor, epsilon: f64) -> Norm {
        match self {
            Modules::Candle => Layer::Candle(candle_nn::RmsNorm::new(weight, epsilon)),
            Modules::Triton => Layer::Triton(nn::RmsNorm::new(weight, epsilon)),
        }
    }

    /// Of a table of tokens of this many elements.
    pub(crate) fn embedding(self, table: Tensor, width: usize) -> Embedding {
        match self {
            Modules::Candle => Layer::Candle(candle_nn::Embedding::new(table, width)),
            Modules::Triton => Layer::Triton(nn::Embedding::new(table)),
        }
    }

    /// The element type of the cosines and sines of positions.
    pub(crate) fn angles(self, weights: DType) -> DType {
        match self {
            Modules::Candle => weights,
            Modules::Triton => DType::F32,
        }
    }

    /// silu(the first half of the last axis) · the second.
    pub(crate) fn swiglu(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Modules::Candle => candle_nn::ops::swiglu(x),
            Modules::Triton => triton_candle::swiglu(x),
        }
    }

    /// Queries or keys `[sequences, heads, tokens, width]`, turned by position.
    pub(crate) fn rotary(self, x: &Tensor, cosines: &Tensor, sines: &Tensor) -> Result<Tensor> {
        match self {
            Modules::Candle => candle_nn::rotary_emb::rope(&x.contiguous()?, cosines, sines),
            Modules::Triton => triton_candle::rotary(x, cosines, sines, Pairs::Halves),
        }
    }

    /// Causal attention of the last tokens to all, with grouped queries.
    pub(crate) fn attention(self, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        match self {
            Modules::Candle => candle_attention(q, k, v),
            Modules::Triton => {
                triton_candle::attention(q, k, v, AttentionOptions { causal: true, ..Default::default() })
            }
        }
    }
}

/// By products and a softmax: scores are stored, keys and values repeated for the heads that share them.
fn candle_attention(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    let ((z, h, l, d), (_, g, s, _)) = (q.dims4()?, k.dims4()?);
    let repeat = |x: &Tensor| x.unsqueeze(2)?.expand((z, g, h / g, s, d))?.reshape((z, h, s, d));
    let (k, v) = (repeat(k)?, repeat(v)?);
    let scores = (q.matmul(&k.transpose(2, 3)?)? / (d as f64).sqrt())?.to_dtype(DType::F32)?;
    let scores = if l == 1 {
        scores
    } else {
        let hidden = |at: usize| if at % s > at / s + s - l { f32::NEG_INFINITY } else { 0.0 };
        let hidden: Vec<f32> = (0..l * s).map(hidden).collect();
        scores.broadcast_add(&Tensor::from_vec(hidden, (l, s), q.device())?)?
    };
    candle_nn::ops::softmax(&scores, D::Minus1)?.to_dtype(v.dtype())?.matmul(&v)
}
