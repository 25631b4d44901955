//! Which instance of a kernel a call runs, without measuring: tables of winners, a model, and the order in which they are asked.
//!
//! A [`Selection`] is a [`Selector`](triton::Selector): `KERNEL_tuned(..).with(&selection).launch(&stream, grid)`. It asks, in this order,
//! for the key of the call:
//!
//! 1. what it has chosen for the key before;
//! 2. the [`Table`] of what was measured on this machine, if it was given one;
//! 3. tables that the program embeds;
//! 4. a model of the candidates' times ([`Rank`]): [`model`] is a small network, a file of some 20 to 100 KB that a program embeds;
//! 5. what the library that launches chooses by itself, if it does: a product of `triton-kernels`;
//! 6. the winner of the nearest key in the tables, by the distance of the logarithms;
//! 7. the first candidate that fits.
//!
//! A winner that is not among the candidates, whose code has changed, that does not fit the call or that could not be launched is passed over, so
//! that there is no error while one candidate works. A choice of a key that was seen before takes one read lock and allocates nothing.
//!
//! ```
//! use triton::prelude::*;
//! use triton_select::{Selection, Table};
//!
//! /// x = 2x
//! #[triton::kernel(BLOCK = [64, 256], tune = [BLOCK])]
//! fn double<const BLOCK: i32>(x: TensorMut<f32, 1>) {
//!     let i = program_id(0) * BLOCK;
//!     x.store([i], x.load([i], [BLOCK]) * 2.0);
//! }
//!
//! # fn main() -> triton::Result<()> {
//! let device = Device::best();
//! // A program includes the file that a tuner wrote: `Table::embedded(include_str!("double.tsv"))`.
//! let selection = Selection::new(&device).table(Table::embedded("triton-tune 1\tNVIDIA H200, 9.0, 132 multiprocessors\n"));
//!
//! let stream = device.stream()?;
//! let mut x = stream.tensor(&[1.0f32; 1000], [1000])?;
//! double_tuned(&mut x)
//!     .key([1000])
//!     .with(&selection)
//!     .launch(&stream, |choice| 1000usize.div_ceil(choice.BLOCK as usize))?;
//! assert_eq!(stream.download(&x)?, [2.0; 1000]);
//! # Ok(())
//! # }
//! ```
//!
//! **Invariant:** nothing here reads a file, the environment or the time.

mod candidate;
mod error;
mod hash;
mod known;
mod memory;
pub mod model;
mod nearest;
mod predict;
mod selection;
mod table;

pub use candidate::{Candidate, Candidates, List, Members};
pub use error::{Error, Result};
pub use known::Known;
pub use nearest::distance;
pub use predict::{Predict, Rank};
pub use selection::{Chosen, Selection, Source};
pub use table::{Record, Table, device_name};

/// The crate's README, whose program is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
