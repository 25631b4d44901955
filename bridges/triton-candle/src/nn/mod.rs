//! Layers with candle's `Module`: each is made of tensors, of a `VarBuilder`, or of candle's layer of the same name.

mod attention;
mod layers;

pub use attention::{Attention, AttentionConfig, attention};
pub use layers::{Embedding, LayerNorm, Linear, RmsNorm, embedding, layer_norm, linear, linear_no_bias, rms_norm};
