//! The tuner: it measures which instance of a kernel is the fastest for the shape of a call, and keeps the times.
//!
//! ```
//! use triton::prelude::*;
//! use triton_tune::Tuner;
//!
//! /// x = 2x
//! #[triton::kernel(BLOCK = [64, 256], tune = [BLOCK])]
//! fn double<const BLOCK: i32>(x: TensorMut<f32, 1>) {
//!     let i = program_id(0) * BLOCK;
//!     x.store([i], x.load([i], [BLOCK]) * 2.0);
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::best();
//! let tuner = Tuner::new(&device)?;
//! let stream = device.stream()?;
//! let mut x = stream.tensor(&[1.0f32; 1000], [1000])?;
//! // On a GPU the first launch measures both instances, and the next ones run the faster; on the CPU the first instance runs.
//! double_tuned(&mut x).with(&tuner).launch(&stream, |choice| 1000usize.div_ceil(choice.BLOCK as usize))?;
//! assert_eq!(stream.download(&x)?, [2.0; 1000]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Tuner`] is what a launch is given by `.with(&tuner)`; [`Tuner::select`] is for anything else that can be launched.
//! - [`Store`] is what it has measured, with its file.
//! - [`Measure`] tells times: [`Device`] of a GPU, [`CostModel`] what the compiler estimates, `Replay` recorded ones; [`Failing`] is for tests.
//!
//! The book's chapter "Tuning your kernel" explains the steps.
//!
//! # Features
//!
//! | feature | what |
//! |---|---|
//! | `train` | recorded times, samples, training, pruning, reports, and `Replay`: what is done ahead of time |
//! | `plot` | figures of the reports |
//! | `cli` | the command line, with all of these: `cargo install triton-tune --features cli` |
//! | `jit` | instances that no list has: they are compiled while the program runs |
#![cfg_attr(feature = "cli", doc = "")]
#![cfg_attr(feature = "cli", doc = include_str!("ahead_of_time.md"))]

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "jit")]
pub mod collect;
#[cfg(feature = "train")]
pub mod context;
#[cfg(feature = "train")]
pub mod data;
mod error;
mod file;
#[cfg(feature = "jit")]
pub mod jit;
#[cfg(feature = "train")]
pub mod legal;
mod measure;
mod mode;
#[cfg(feature = "train")]
pub mod prune;
#[cfg(feature = "train")]
pub mod regret;
#[cfg(feature = "train")]
pub mod report;
#[cfg(feature = "train")]
pub mod sample;
mod search;
#[cfg(feature = "train")]
pub mod space;
mod store;
#[cfg(feature = "train")]
pub mod train;
mod tuner;

#[cfg(feature = "cli")]
pub use cli::cli;
pub use error::{BoxError, Error, Failure, Result};
#[cfg(feature = "train")]
pub use measure::Replay;
pub use measure::{CostModel, Device, Effort, Failing, Measure, Trial, Trouble};
pub use mode::Mode;
pub use store::Store;
pub use triton_select::model::Model;
pub use triton_select::{Candidate, Candidates, List, Predict, Rank, Record, Selection, Source, Table};
pub use tuner::Tuner;

/// The book's page, whose programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/tuning.md")]
mod book {}

/// The crate's README, whose program is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
