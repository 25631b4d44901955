//! Losses and their gradients.

mod cross_entropy;
mod distance;

pub use cross_entropy::{CrossEntropy, cross_entropy};
pub use distance::{Distance, kl_div, mse};
