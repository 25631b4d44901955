//! Operations over rows: what is along the last axis of a view is reduced, normalised or exchanged together.

pub(crate) mod activation;
mod batch_norm;
mod clip;
pub(crate) mod column_sums;
pub(crate) mod distance;
pub(crate) mod dropout;
mod element;
mod embedding;
mod flat;
mod group_norm;
pub(crate) mod loss;
pub(crate) mod norm;
pub(crate) mod norm_backward;
pub(crate) mod optim;
mod parameter;
pub(crate) mod rotary;
mod select;
pub(crate) mod softmax;

pub use activation::{
    Activate, ActivateBackward, Gated, GatedBackward, activation, activation_backward, gated, gated_backward,
};
pub use batch_norm::{BatchNorm, BatchNormBackward, BatchNormEval, batch_norm, batch_norm_backward, batch_norm_eval};
pub use clip::{ClipByNorm, clip_by_norm};
pub use column_sums::{ColumnSums, column_sums};
pub use distance::{Distance, kl_div, mse};
pub use dropout::{Dropout, dropout};
pub use element::{FloatElement, SumOf};
pub use embedding::{Embedding, EmbeddingBackward, embedding, embedding_backward};
pub use group_norm::{GroupNorm, GroupNormBackward, group_norm, group_norm_backward};
pub use loss::{CrossEntropy, cross_entropy};
pub use norm::{Norm, layer_norm, rms_norm};
pub use norm_backward::{NormBackward, layer_norm_backward, rms_norm_backward};
pub use optim::{AdamW, AdamWOptions, Sgd, SgdOptions, adamw, sgd};
pub use rotary::{Pairs, Rotary, rotary, rotary_backward};
pub use softmax::{Softmax, SoftmaxBackward, log_softmax, log_softmax_backward, softmax, softmax_backward};
