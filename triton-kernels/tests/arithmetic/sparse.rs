//! The lists of block-sparse matrices, and how they are divided.

#[path = "../../src/sparse/balance.rs"]
mod balance;
#[path = "../../src/sparse/pattern.rs"]
mod pattern;
