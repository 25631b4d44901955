//! Reductions over axes: sums, means, variances, norms, the greatest and the least element, and whether elements are not 0; where extremes are; cumulative
//! sums and products.
//!
//! Sums are in `f32`, in an order that follows from the shapes: a result is the same each time. The result is rounded once, to the type of x.

mod axes;
mod extreme;
mod kernels;
mod over;
mod scan;

pub use axes::Axes;
pub use extreme::{Argmax, argmax, argmin};
pub use over::{Reduce, Reduction, all, any, max, mean, min, norm, reduce, sum, var};
pub use scan::{Cumprod, CumprodBackward, Cumsum, cumprod, cumprod_backward, cumsum};
