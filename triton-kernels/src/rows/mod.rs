//! Operations over rows: what is along the last axis of a view is reduced, normalised or exchanged together.

mod activation;
mod batch_norm;
mod clip;
mod column_sums;
mod distance;
mod dropout;
mod embedding;
mod flat;
mod group_norm;
mod loss;
mod norm;
mod norm_backward;
mod optim;
mod parameter;
mod rotary;
mod softmax;

pub use crate::element::{FloatElement, Ids, SumOf};
pub use activation::{
    Activate, ActivateBackward, Gated, GatedBackward, activation, activation_backward, gated, gated_backward,
};
pub use batch_norm::{BatchNorm, BatchNormBackward, BatchNormEval, batch_norm, batch_norm_backward, batch_norm_eval};
pub use clip::{ClipByNorm, clip_by_norm};
pub use column_sums::{ColumnSums, column_sums};
pub use distance::{Distance, kl_div, mse};
pub use dropout::{Dropout, dropout};
pub use embedding::{Embedding, EmbeddingBackward, embedding, embedding_backward};
pub use group_norm::{GroupNorm, GroupNormBackward, group_norm, group_norm_backward};
pub use loss::{CrossEntropy, cross_entropy};
pub use norm::{Norm, layer_norm, rms_norm};
pub use norm_backward::{NormBackward, layer_norm_backward, rms_norm_backward};
pub use optim::{AdamW, AdamWOptions, Sgd, SgdOptions, adamw, sgd};
pub use rotary::{Pairs, Rotary, rotary, rotary_backward};
pub use softmax::{
    Softmax, SoftmaxBackward, log_softmax, log_softmax_backward, log_softmax_in_place, softmax, softmax_backward,
    softmax_in_place,
};
