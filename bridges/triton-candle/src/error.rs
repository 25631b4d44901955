//! Errors of ours as candle's.

use candle_core::{DType, Error};
use std::fmt::Display;

/// An error of the runtime or of an operation, with its text.
pub(crate) fn wrap(error: impl Display + Send + Sync + 'static) -> Error {
    Error::wrap(error)
}

/// An operand of another element type.
pub(crate) fn dtype(op: &'static str, operand: &'static str, found: DType, expected: &[DType]) -> Error {
    let expected: Vec<String> = expected.iter().map(|dtype| format!("{dtype:?}")).collect();
    let expected = expected.join(" or ");
    Error::msg(format!("`{op}`: `{operand}` is of {found:?}, but {expected} is expected; convert it with `to_dtype`"))
}

/// An operand whose axes no view of so few axes has.
pub(crate) fn unmerged(op: &'static str, operand: &'static str, rank: usize) -> Error {
    Error::msg(format!("`{op}`: the axes of `{operand}` do not merge into {rank}; call `contiguous` first"))
}

/// An operand of another rank or shape.
pub(crate) fn shape(op: &'static str, operand: &'static str, found: &[usize], expected: &str) -> Error {
    Error::msg(format!("`{op}`: `{operand}` has the shape {found:?}, but {expected} is expected"))
}
