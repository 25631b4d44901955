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

pub mod activation;
#[cfg(feature = "contract")]
pub mod contract;
#[cfg(any(feature = "rows", feature = "conv", feature = "contract", feature = "sparse", feature = "attention"))]
mod element;
mod error;

#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "conv")]
pub mod conv;
pub mod functions;
#[cfg(feature = "gemm")]
pub mod gemm;
#[cfg(any(feature = "gemm", feature = "rows", feature = "sparse", feature = "attention"))]
mod grid;
#[cfg(any(feature = "gemm", feature = "rows", feature = "sparse", feature = "attention"))]
mod lent;
#[cfg(any(feature = "rows", feature = "conv"))]
mod pool;
#[cfg(feature = "rows")]
pub mod rows;
#[cfg(feature = "gemm")]
pub mod select;
#[cfg(feature = "sparse")]
pub mod sparse;

pub use activation::Activation;
#[cfg(feature = "contract")]
pub use contract::{Contraction, contract};
#[cfg(any(feature = "rows", feature = "conv", feature = "contract", feature = "sparse", feature = "attention"))]
pub use element::FloatElement;
pub use error::{Error, Result};
#[cfg(feature = "gemm")]
pub use gemm::{
    Gemm, GemmElement, Gemv, GemvElement, GroupedElement, GroupedGemm, Precision, Scale, gemm, gemm_batched,
    gemm_grouped, gemv,
};
#[cfg(all(feature = "gemm", feature = "rows"))]
pub use gemm::{LinearBackward, linear_backward};
#[cfg(feature = "contract")]
pub use triton_kernels_macros::contract;

/// The book's page of this library, whose programs are tests.
#[cfg(all(doctest, feature = "gemm"))]
#[doc = include_str!("../../docs/src/library.md")]
mod book {}

/// The book's page of weights from a file.
#[cfg(all(doctest, feature = "gemm"))]
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

/// The crate's README, whose program is a test.
#[cfg(all(doctest, feature = "gemm"))]
#[doc = include_str!("../README.md")]
mod readme {}

/// The repository's README, whose programs are tests: one uses the library, the others the language.
#[cfg(all(doctest, feature = "gemm"))]
#[doc = include_str!("../../README.md")]
mod repository_readme {}
