//! The tile IR of `triton-dsl`, and what a compiled kernel is embedded as.
//!
//! The compiler makes functions of this IR, transforms them and generates code for them. A program has their text form beside its
//! code, and executes them on the CPU device. This crate is what both need: data, and its meaning.
//!
//! - [`ir`] is the specification; [`ops`] has the operations, [`types`] their types, [`layout`] the layouts of tiles.
//! - [`interp`] is the meaning of a function.
//! - [`metadata`] is a compiled kernel as data; [`embed`] has what generated code computes of it while rustc evaluates constants.
//! - [`interval`] is the one analysis that a launch makes, by [`forward`], the driver of forward analyses.
//!
//! **Invariant:** no files, no environment, no device, no threads, no `unsafe`.

pub mod embed;
pub mod entity;
pub mod forward;
pub mod hash;
pub mod interp;
pub mod interval;
pub mod ir;
pub mod layout;
pub mod metadata;
pub mod ops;
pub mod span;
pub mod types;

/// The folder of the sources of this crate, when it was built: a compiler is known by all of its sources.
#[doc(hidden)]
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
