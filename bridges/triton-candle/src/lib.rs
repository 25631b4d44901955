//! Kernels over tensors of candle, in its memory and on its streams.
//!
#![doc = include_str!("../README.md")]

mod call;
mod custom;
mod error;
mod layout;
mod memory;
pub mod nn;
mod operation;
mod ops;

pub use call::Call;
#[doc(hidden)]
pub use candle_core;
#[doc(hidden)]
pub use custom::{axes, next, refused};
pub use layout::copies;
pub use memory::{Element, Memory, Read, Write};
pub use operation::{Operand, Operation, Output, apply};
pub use ops::*;
#[doc(hidden)]
pub use triton;
pub use triton_kernels::Activation;
pub use triton_kernels::embedding::Pairs;

/// The book's page of this crate, whose programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/candle.md")]
mod book {}
