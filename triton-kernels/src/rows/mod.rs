//! Operations over rows: what is along the last axis of a view is reduced, normalised or exchanged together.

pub(crate) mod column_sums;
mod element;
pub(crate) mod norm;
pub(crate) mod norm_backward;
mod select;
pub(crate) mod softmax;

pub use column_sums::{ColumnSums, column_sums};
pub use element::{FloatElement, SumOf};
pub use norm::{Norm, layer_norm, rms_norm};
pub use norm_backward::{NormBackward, layer_norm_backward, rms_norm_backward};
pub use softmax::{Softmax, SoftmaxBackward, log_softmax, log_softmax_backward, softmax, softmax_backward};
