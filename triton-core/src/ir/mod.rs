//! The tile IR.

pub mod types;

pub mod parse;

/// A kernel in tile IR.
#[derive(Clone, Debug)]
pub struct Function {}
