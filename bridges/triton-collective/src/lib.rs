//! Collectives among devices, over views and streams of [triton-dsl](https://docs.rs/triton-dsl).
//!
#![doc = include_str!("../README.md")]

mod backend;
mod call;
mod communicator;
mod error;
mod exchange;
mod group;
mod host;
mod id;
mod meeting;
mod nccl;
mod options;
mod place;
mod reduce;

pub use communicator::Communicator;
pub use error::{Error, Result};
pub use group::Group;
pub use id::Id;
pub use meeting::Meeting;
pub use options::Options;
pub use place::Place;
pub use reduce::Reduce;
