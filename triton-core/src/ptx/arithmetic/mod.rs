//! Lowering of what is done in registers: elementwise operations, casts, conversions between layouts, folds.

pub(crate) mod cast;
pub(crate) mod convert;
pub(crate) mod elementwise;
pub(crate) mod fold;
pub(crate) mod select;
pub(crate) mod steps;
pub(crate) mod thread;
pub(crate) mod widened;
pub(crate) mod words;
