//! The tuner: what candidates are legal, which of them are measured, what was measured, a network that predicts it, and the few
//! instances that a program embeds.
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
//! Programs embed what [`prune`](mod@prune) and [`train`] yield, and choose by `triton_select::model`: nothing is compiled or measured
//! there.
//!
//! # The command line
//!
//! | command | what |
//! |---|---|
//! | `triton-tune table acceptance` | how many samples are legal, uniform and fitted, with the entropy beside (I Table 1) |
//! | `triton-tune table space` | the size of our search space, rule by rule |
//! | `triton-tune table mse --data FILE..` | the errors of the papers' seven networks (I Table 2, T Table 4.1) |
//! | `triton-tune plot mse-by-size --data FILE..` | the error by the rows trained on, as SVG (I Figure 5, T Figure 4.7) |
//! | `triton-tune train --data FILE.. --hidden 64,128,64 --out FILE` | a model that programs embed |
//! | `triton-tune regret --data FILE.. --model FILE` | its first choice, and the best of its first ten, over the best |
//! | `triton-tune prune --data FILE.. --size 12 --emit-configs` | the option `configs` of a kernel |
//! | `triton-tune bench inference`, `bench training` | this CPU |
//!
//! A program of a user has the same command line by one call:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     triton_tune::cli(std::env::args_os())
//! }
//! ```
//!
//! # A network by hand
//!
//! ```
//! use triton_tune::data::{Data, Row, Schema};
//! use triton_tune::train::{Cpu, Fitted, Options, Scale, Split, Table, TargetKind, split};
//!
//! // Times of a kernel that is bound by memory, with tiles that suit it more or less.
//! let mut data = Data { schema: Schema::new(["m"], ["BM"], []), ..Data::default() };
//! for (m, bm) in (1..=64).flat_map(|m| [16, 32, 64, 128].map(|bm| (m * 64, bm))) {
//!     let us = 2.0 + m as f64 / 100.0 * (1.0 + 16.0 / bm as f64);
//!     data.rows.push(Row { op: "copy".into(), context: vec![m], choice: vec![bm], us, ..Row::default() });
//! }
//!
//! let table = Table::new(&data, false)?;
//! let [train, test] = split(&table, Split::Context, 64, 1);
//! let options = Options { hidden: vec![16], epochs: 300, batch: 64, rates: [1e-2, 1e-4], seed: 1 };
//! let fitted = Fitted::train(&table, &train, (Scale::Log, TargetKind::Time), &Cpu, &options, &mut |_, _| {})?;
//! assert!(fitted.error(&table, &test) < 0.01);
//!
//! let model = fitted.model()?;
//! let ranking = model.ranking(&[[16.0], [32.0], [64.0], [128.0]])?;
//! let best = ranking.best(&[2000.0], &mut Default::default(), &mut [0.0; 4])?;
//! assert_eq!(best, Some(3));
//! # Ok::<(), triton_tune::Error>(())
//! ```
//!
//! # Without a GPU
//!
//! Nothing here touches a device. [`train::Trainer`] is a trait, so that training can run on one; what measures appends
//! [`data::Row`]s.

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
