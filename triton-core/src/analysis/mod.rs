//! Facts about values that passes rely on.

pub mod advice;
pub mod axis;
pub mod defs;
pub mod liveness;
pub mod pressure;
pub mod promises;
pub mod read_only;
pub mod remat;
pub mod scalars;
pub mod spills;
pub mod stepped;
pub mod storage;
pub mod stride;

pub use triton_ir::{forward, interval};
