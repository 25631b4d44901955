//! x

mod cli;
pub mod context;
pub mod data;
mod error;
pub mod legal;
pub mod prune;
pub mod regret;
pub mod report;
pub mod sample;
pub mod space;
mod store;
pub mod train;

pub use cli::cli;
pub use error::{Error, Result};
