//! Tests of the runtime that need no driver, and share a process: a program of tests takes seconds to build.

mod axes;
mod cache;
mod cpu;
mod foreign;
mod graphs;
mod scratch;
#[cfg(feature = "sim")]
mod sim;
#[path = "../support/mod.rs"]
mod support;
mod views;
#[cfg(feature = "safetensors")]
mod weights;
mod workspace;
