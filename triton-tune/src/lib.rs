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
//! let mut x = stream.upload(&[1.0f32; 1000])?;
//! // On a GPU the first launch measures both instances, and the next ones run the faster; on the CPU the first instance runs.
//! double_tuned(x.view_mut([1000])?).with(&tuner).launch(&stream, |choice| 1000usize.div_ceil(choice.BLOCK as usize))?;
//! assert_eq!(stream.download(&x)?, [2.0; 1000]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Tuner`] is what a launch is given by `.with(&tuner)`; [`Tuner::select`] is for anything else that can be launched.
//! - [`Store`] is what it has measured, with its file.
//! - [`Measure`] tells times: [`Device`] of a GPU, [`Replay`] recorded ones; [`Failing`] is for tests.
//!
//! The book's chapter "Tuning your kernel" explains the steps.

mod error;
#[cfg(feature = "jit")]
pub mod jit;
mod measure;
mod mode;
mod search;
mod store;
mod tuner;

pub use error::{BoxError, Error, Failure, Result};
pub use measure::{Device, Effort, Failing, Measure, Replay, Trial, Trouble};
pub use mode::Mode;
pub use store::Store;
pub use triton_select::{Candidate, Candidates, List, Predict, Rank, Record, Selection, Source, Table};
pub use tuner::Tuner;

/// The book's page, whose programs are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/tuning.md")]
mod book {}
