//! Matrix products: c = activation(α · a · b + β · c + bias) + residual, of one matrix or a batch.
//!
//! Tiles, their order and the split of K are those of Tillet and Cox, "Input-aware auto-tuning of compute-bound HPC kernels" (SC 2017), section
//! 3.2, and Tillet's thesis (2020), section 4.1.1: which of them computes a product follows from its shape ([`select`](crate::select)).

#[cfg(feature = "parallel")]
pub(crate) mod added;
mod ask;
mod backward;
mod beside;
mod builder;
mod choose;
mod column_sums;
mod gemv;
mod grouped;
pub mod kernels;
mod memory;
mod operands;
mod pools;
mod prepared;
pub(crate) mod with;

#[cfg(feature = "parallel")]
pub(crate) use added::add_product;
pub use backward::{LinearBackward, linear_backward};
pub use beside::Scale;
pub use builder::{Gemm, gemm, gemm_batched};
#[doc(hidden)]
pub use choose::instances_of;
pub use column_sums::{ColumnSums, column_sums};
pub use gemv::{Gemv, GemvElement, gemv};
pub use grouped::{GroupedGemm, gemm_grouped};
pub use operands::{Matrices, MatricesMut};
#[doc(hidden)]
pub use pools::{Form, Told};
pub use pools::{GemmElement, Precision};
pub use with::GemmWith;
