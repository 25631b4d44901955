//! Attention: o = softmax(q · kᵀ · scale) · v of each head, and its gradients.

mod backward;
mod forward;
mod kernels;
mod shape;

pub use backward::{AttentionBackward, attention_backward};
pub use forward::{Attention, attention};
