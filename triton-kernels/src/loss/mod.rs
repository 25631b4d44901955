//! Losses and their gradients.

mod cross_entropy;
mod distance;
mod elementwise;
mod online;
mod sharded;

pub use cross_entropy::{CrossEntropy, cross_entropy};
pub use distance::{Distance, kl_div, mse};
pub use elementwise::{BceWithLogits, Huber, SmoothL1, bce_with_logits, huber, smooth_l1};
pub use sharded::{CrossEntropyOfParts, CrossEntropyPart, cross_entropy_of_parts, cross_entropy_part};
