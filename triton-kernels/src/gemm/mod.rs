//! Matrix products.
pub mod kernels;
