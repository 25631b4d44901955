//! Attention with its projections.

use super::layers::{Linear, linear_no_bias};
use crate::{AttentionOptions, Pairs};
use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;

/// The sizes of [`Attention`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionConfig {
    /// Elements of a token.
    pub hidden: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values, which divide those of queries.
    pub key_heads: usize,
    /// Elements of a head.
    pub width: usize,
    /// Which keys a query sees.
    pub options: AttentionOptions,
}

/// Self-attention of tokens `[Z, L, hidden]`: projections `q_proj`, `k_proj`, `v_proj` and `o_proj` without biases, and
/// [`attention`](crate::attention) between them. Heads are views of the projections: nothing is copied.
#[derive(Clone, Debug)]
pub struct Attention {
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    config: AttentionConfig,
}

/// Attention with the variables of four projections.
///
/// # Errors
/// Those of the builder.
///
/// ```
/// use candle_core::{DType, Device, Module, Tensor};
/// use candle_nn::{VarBuilder, VarMap};
/// use triton_candle::{AttentionOptions, nn};
/// # fn main() -> candle_core::Result<()> {
/// let variables = VarMap::new();
/// let builder = VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu);
/// let options = AttentionOptions { causal: true, ..Default::default() };
/// let layer = nn::attention(nn::AttentionConfig { hidden: 32, heads: 4, key_heads: 2, width: 16, options }, builder)?;
/// let before = triton_candle::copies();
/// assert_eq!(layer.forward(&Tensor::ones((2, 5, 32), DType::F32, &Device::Cpu)?)?.dims(), [2, 5, 32]);
/// assert_eq!(triton_candle::copies(), before);
/// # Ok(())
/// # }
/// ```
pub fn attention(config: AttentionConfig, builder: VarBuilder<'_>) -> Result<Attention> {
    let AttentionConfig { hidden, heads, key_heads, width, .. } = config;
    Ok(Attention {
        q: linear_no_bias(hidden, heads * width, builder.pp("q_proj"))?,
        k: linear_no_bias(hidden, key_heads * width, builder.pp("k_proj"))?,
        v: linear_no_bias(hidden, key_heads * width, builder.pp("v_proj"))?,
        o: linear_no_bias(heads * width, hidden, builder.pp("o_proj"))?,
        config,
    })
}

impl Attention {
    /// With queries and keys turned by position, of cosines and sines `[positions, width / 2]`: see [`rotary`](crate::rotary).
    ///
    /// # Errors
    /// Those of the operations.
    pub fn forward_rotary(&self, x: &Tensor, cosines: &Tensor, sines: &Tensor) -> Result<Tensor> {
        self.run(x, |of| crate::rotary(&of, cosines, sines, Pairs::Halves))
    }

    fn run(&self, x: &Tensor, turn: impl Fn(Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let AttentionConfig { heads, key_heads, width, options, .. } = self.config;
        let (z, l, _) = x.dims3()?;
        let part = |layer: &Linear, heads| layer.forward(x)?.reshape((z, l, heads, width))?.transpose(1, 2);
        let (q, k) = (turn(part(&self.q, heads)?)?, turn(part(&self.k, key_heads)?)?);
        let o = crate::attention(&q, &k, &part(&self.v, key_heads)?, options)?;
        self.o.forward(&o.transpose(1, 2)?.reshape((z, l, heads * width))?)
    }
}

impl Module for Attention {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.run(x, Ok)
    }
}
