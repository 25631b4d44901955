//! Instances that no list has: compiled while the tuner runs, by the compiler of the attribute, from the text of the kernels.

mod estimate;
mod gemm;

pub use estimate::Estimated;
pub(crate) use gemm::{Division, LONG};
pub use gemm::{Form, Instance, Order, Refused, cycles};
