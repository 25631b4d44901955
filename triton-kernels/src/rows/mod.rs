//! Operations over rows: what is along the last axis of a view is reduced, normalised or exchanged together.

pub(crate) mod column_sums;
mod element;
mod select;
pub(crate) mod softmax;

pub use column_sums::{ColumnSums, SumOf, column_sums};
pub use element::FloatElement;
pub use softmax::{Softmax, SoftmaxBackward, log_softmax, log_softmax_backward, softmax, softmax_backward};
