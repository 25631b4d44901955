//! The unit tests of files of the library that have no kernels: the files themselves, which are compiled here without the rest. A test of
//! the library's own would compile every kernel once more.

#![cfg(all(feature = "linear", feature = "conv", feature = "contract", feature = "sparse"))]
#![allow(dead_code, unused_imports, reason = "the library uses what tests do not")]

mod contract;
mod conv;
#[path = "../../src/divisor.rs"]
mod divisor;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/grid.rs"]
mod grid;
#[path = "../../src/parallel/parts.rs"]
mod parts;
#[path = "../../src/select/mod.rs"]
mod select;
mod sparse;
#[path = "../../src/tables/mod.rs"]
mod tables;

use error::Result;
