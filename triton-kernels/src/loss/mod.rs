//! Losses and their gradients.

mod cross_entropy;
mod distance;
mod sharded;

pub use cross_entropy::{CrossEntropy, cross_entropy};
pub use distance::{Distance, kl_div, mse};
pub use sharded::{CrossEntropyOfParts, CrossEntropyPart, cross_entropy_of_parts, cross_entropy_part};
