//! The attribute is for functions.
use triton::prelude::*;

#[triton::kernel]
struct NotAFunction;

#[triton::kernel]
mod module {}

fn main() {}
