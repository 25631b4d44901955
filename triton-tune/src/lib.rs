//! x

mod cli;
pub mod context;
mod error;
pub mod legal;
pub mod report;
pub mod sample;
pub mod space;

pub use cli::cli;
pub use error::{Error, Result};
