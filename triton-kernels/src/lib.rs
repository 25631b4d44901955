//! Fused GPU operations, shipped to other crates: kernels written in the public language of `triton`, compiled when this crate is built,
//! launched by safe functions.
//!
//! Each operation is a function that borrows views and returns a builder. Options are methods; `launch` checks the operands and enqueues.
//! Nothing is allocated for results. Intermediate results are in memory that the stream lends and keeps ([`Stream::workspace`](triton::Stream::workspace),
//! [`Stream::scratch`](triton::Stream::scratch)), so that a launch whose shapes were launched before allocates nothing, copies nothing and waits for
//! nothing. Every operation can be captured in a graph ([`Stream::capture`](triton::Stream::capture)), its first launch too.
//!
//! Views have a fixed order of axes. Their order in memory is what strides say, so that a transposed operand is a transposed view: any
//! stride and any alignment gives the same result, at another speed. An extent of 0 is allowed.

#![cfg_attr(
    not(feature = "default"),
    allow(dead_code, unused_imports, reason = "what families share is not used by each")
)]

pub mod activation;
#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "contract")]
pub mod contract;
#[cfg(feature = "conv")]
pub mod conv;
mod divisor;
#[cfg(feature = "dropout")]
pub mod dropout;
mod element;
#[cfg(feature = "elementwise")]
pub mod elementwise;
#[cfg(feature = "embedding")]
pub mod embedding;
mod error;
mod flat;
pub mod functions;
mod grid;
mod ids;
#[cfg(feature = "index")]
pub mod index;
#[cfg(feature = "linear")]
pub mod linear;
#[cfg(feature = "loss")]
pub mod loss;
#[cfg(feature = "norm")]
pub mod norm;
#[doc(hidden)]
pub mod operation;
#[cfg(feature = "optim")]
pub mod optim;
#[cfg(feature = "parallel")]
pub mod parallel;
#[cfg(feature = "pool")]
pub mod pool;
#[cfg(feature = "recurrent")]
pub mod recurrent;
#[cfg(feature = "reduce")]
pub mod reduce;
#[cfg(feature = "linear")]
pub mod select;
#[cfg(feature = "softmax")]
pub mod softmax;
#[cfg(feature = "sparse")]
pub mod sparse;
mod sums;
mod tables;

pub use activation::Activation;
pub use element::{FloatElement, SumOf};
pub use error::{Error, Result};
pub use ids::Ids;
pub use sums::Sums;

/// What macros of this crate need where they are expanded. Not public: it changes with every version.
#[doc(hidden)]
pub mod __private {
    pub use crate::divisor::quotient;
    pub use crate::flat::corner;
    #[cfg(feature = "parallel")]
    pub use crate::linear::added::added;
    #[cfg(feature = "linear")]
    pub use crate::linear::kernels::with::{store_product, store_split_product};
    #[cfg(feature = "linear")]
    pub use crate::linear::with::{Arguments, Product, Run, tell};
    #[cfg(feature = "linear")]
    pub use crate::select::{Kernel, Order};
    pub use triton;
}

/// The book's page of this library, whose programs are tests.
#[cfg(all(doctest, feature = "linear"))]
#[doc = include_str!("../../docs/src/library.md")]
mod book {}

/// The book's page of weights from a file.
#[cfg(all(doctest, feature = "linear"))]
#[doc = include_str!("../../docs/src/weights.md")]
mod weights {}

/// The book's page of convolutions.
#[cfg(all(doctest, feature = "conv"))]
#[doc = include_str!("../../docs/src/convolution.md")]
mod convolution {}

/// The book's page of contractions.
#[cfg(all(doctest, feature = "contract"))]
#[doc = include_str!("../../docs/src/contraction.md")]
mod contraction {}

/// The book's page of block-sparse attention.
#[cfg(all(doctest, feature = "sparse"))]
#[doc = include_str!("../../docs/src/block_sparse.md")]
mod block_sparse {}

/// The book's page of several GPUs.
#[cfg(all(doctest, feature = "parallel"))]
#[doc = include_str!("../../docs/src/several_gpus.md")]
mod several_gpus {}

/// The crate's README, whose program is a test.
#[cfg(all(doctest, feature = "linear"))]
#[doc = include_str!("../README.md")]
mod readme {}

/// The repository's README, whose programs are tests: one uses the library, the others the language.
#[cfg(all(doctest, feature = "linear"))]
#[doc = include_str!("../../README.md")]
mod repository_readme {}
