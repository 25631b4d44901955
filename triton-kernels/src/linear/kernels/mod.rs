//! The kernels of matrix products, and their instances.

pub mod added;
pub mod batched;
#[cfg(feature = "f64")]
pub mod double;
pub mod epilogue;
pub(crate) mod finish;
pub mod fused;
pub mod grouped;
mod instances;
pub mod int8;
pub mod split;
pub mod sums;
pub mod vector;
pub mod whole;
pub mod with;
