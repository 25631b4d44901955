//! Facts about values that passes rely on.

pub mod advice;
pub mod axis;
pub mod pressure;
pub mod span;
pub mod storage;
pub mod stride;
