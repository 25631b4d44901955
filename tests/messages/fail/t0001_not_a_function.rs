//! The attribute stands on a function.
use triton::prelude::*;

#[triton::kernel]
struct NotAFunction;

#[triton::kernel]
mod module {}

fn main() {}
