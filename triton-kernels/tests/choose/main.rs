//! The unit tests of the choice among a product's instances: its files, over the instances of the compiled library. A test of the library's
//! own would compile every kernel once more.

#![cfg(feature = "linear")]
#![allow(dead_code, unused_imports, reason = "the library uses what tests do not")]

#[path = "../../src/error.rs"]
mod error;
mod gemm;

/// The library's selection.
mod select {
    pub(crate) use triton_kernels::select::*;
}
