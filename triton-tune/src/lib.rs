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
//! - [`Measure`] tells times: [`Device`] of a GPU, [`CostModel`] what the compiler estimates, [`Replay`] recorded ones; [`Failing`] is for tests.
//!
//! The book's chapter "Tuning your kernel" explains the steps.
//!
//! # Ahead of time
//!
//! A *context* is what a call is given: extents, layouts, types, the device. A *choice* is what the tuner decides: tile sizes, warps,
//! stages, splits. The method is that of ISAAC (Tillet and Cox, SC 2017, cited as I) and of Tillet's thesis (2020, chapter 4, cited
//! as T):
//!
//! | step | module |
//! |---|---|
//! | a space of contexts and choices, and rules that say what is legal and promising | [`space`], [`legal`], [`context`] |
//! | samples that are mostly legal, of a distribution that learns from accepted ones | [`sample`] |
//! | recorded times, in a file that a killed run continues | [`data`] |
//! | a network on logarithms of the numbers of both predicts the time | [`train`] |
//! | the network chooses among candidates: how much slower than the best | [`regret`](mod@regret) |
//! | the few instances that lose least over all contexts | [`prune`](mod@prune) |
//! | the papers' tables and figures, ours beside them | [`report`] |
//!
//! Programs embed what [`prune`](mod@prune) and [`train`] yield, and choose by [`Selection`]: nothing is compiled or measured there. No
//! step but the measuring needs a GPU.
//!
//! # The command line
//!
//! | command | what |
//! |---|---|
//! | `triton-tune table acceptance` | how many samples are legal, uniform and fitted, with the entropy beside (I Table 1) |
//! | `triton-tune table space` | the size of our search space, rule by rule |
//! | `triton-tune table mse --data FILE..` | the errors of the papers' seven networks (I Table 2, T Table 4.1) |
//! | `triton-tune table choices --data FILE --complete FILE --model FILE` | what a model chooses for ten problems (I Table 6) |
//! | `triton-tune table estimates --complete FILE` | how well the compiler's estimates rank recorded times (feature `jit`) |
//! | `triton-tune plot mse-by-size --data FILE..` | the error by the rows trained on, as SVG (I Figure 5, T Figure 4.7) |
//! | `triton-tune collect --types bf16,f32 --orders NN,NT,TN --seconds 420 --out FILE` | times of products on this GPU (feature `jit`) |
//! | `triton-tune train --data FILE.. --hidden 64,128,64 --out FILE` | a model that programs embed; `--teachers 6`: one that learns from several |
//! | `triton-tune regret --data FILE.. --model FILE` | its first choice, and the best of its first ten, over the best |
//! | `triton-tune prune --data FILE.. --size 12 --emit-configs` | the option `configs` of a kernel |
//! | `triton-tune bench inference`, `bench training` | this CPU |
//!
//! The repository has times of products on an H200 and models of them, in `triton-tune/data`; `triton-tune/RESULTS.md` has what they yield.
//!
//! A program of a user has the same command line by one call:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     triton_tune::cli(std::env::args_os())
//! }
//! ```

mod cli;
#[cfg(feature = "jit")]
pub mod collect;
pub mod context;
pub mod data;
mod error;
mod file;
#[cfg(feature = "jit")]
pub mod jit;
pub mod legal;
mod measure;
mod mode;
pub mod prune;
pub mod regret;
pub mod report;
pub mod sample;
mod search;
pub mod space;
mod store;
pub mod train;
mod tuner;

pub use cli::cli;
pub use error::{BoxError, Error, Failure, Result};
pub use measure::{CostModel, Device, Effort, Failing, Measure, Replay, Trial, Trouble};
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
