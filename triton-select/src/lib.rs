//! Chooses between compiled instances of a kernel, from the extents of a call.
//!
//! [`model`] is a small network that predicts the time of each instance. It is a file of some 20 to 100 KB, which a program embeds,
//! and some loops of plain Rust: nothing is compiled, read or measured when a program runs.

pub mod model;
