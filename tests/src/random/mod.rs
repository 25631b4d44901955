//! Random programs, the same in every run.

mod control;
pub mod frontend;
mod memory;
mod program;
pub mod squares;
mod steps;
pub mod tutorials;
mod views;

use crate::numbers::{Random, SMALL};

pub use program::{Case, case};
