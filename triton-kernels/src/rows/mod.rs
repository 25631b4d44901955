//! Operations over rows: what is along the last axis of a view is reduced, normalised or exchanged together.

pub(crate) mod column_sums;
mod element;

pub use column_sums::{ColumnSums, SumOf, column_sums};
pub use element::FloatElement;
