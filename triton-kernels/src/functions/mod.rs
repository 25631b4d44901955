//! The inner loops of the library as functions for kernels: what a kernel of one's own fuses with them takes a few lines.

mod activation;

pub use activation::{activate, gelu, gelu_tanh, mish, relu, silu, softplus};
