//! Steps of optimisers, and gradients of bounded norm.

mod clip;
mod step;

pub use clip::{ClipByNorm, clip_by_norm};
pub use step::{AdamW, AdamWOptions, Sgd, SgdOptions, adamw, sgd};
