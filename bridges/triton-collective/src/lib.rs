//! Collectives among devices, over views and streams of [triton-dsl](https://docs.rs/triton-dsl).
//!
#![doc = include_str!("../README.md")]

mod alone;
mod backend;
mod call;
mod communicator;
mod copies;
mod error;
mod exchange;
mod gradients;
mod group;
mod host;
mod id;
mod meeting;
pub mod model;
mod nccl;
mod options;
mod passage;
mod place;
mod reduce;

pub use communicator::{Communicator, devices_from, on_all};
pub use error::{Error, Result};
pub use gradients::Gradients;
pub use group::Group;
pub use id::Id;
pub use meeting::Meeting;
pub use options::Options;
pub use passage::Passage;
pub use place::Place;
pub use reduce::Reduce;
