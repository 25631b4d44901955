//! Functions, constants, structs and kernels for other crates.
#![deny(warnings, missing_docs)]

pub mod activation;
pub mod kernels;

/// A type that is called like one of the language.
pub struct Tensor {
    /// How many axes it has.
    pub rank: usize,
}
mod polynomial;

pub use activation::gelu;
pub use polynomial::scale as scaled;

/// The width of a tile.
#[triton::constant]
pub const WIDTH: i32 = 2 * HALF;

#[triton::constant]
const HALF: i32 = 64;

/// The parameters of a step of gradient descent.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// The learning rate.
    pub rate: f32,
    /// How much of the last step is kept.
    pub momentum: f32,
    /// Whether the step is made at all.
    pub on: bool,
}
