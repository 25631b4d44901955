#![doc = include_str!("../../docs/src/tuning.md")]

mod error;
mod measure;
mod mode;
mod search;
mod store;
mod tuner;

pub use error::{Error, Failure, Result};
pub use measure::{BoxError, Device, Effort, Failing, Measure, Replay, Trial, Trouble};
pub use mode::Mode;
pub use store::Store;
pub use triton_select::{Candidate, Candidates, List, Predict, Rank, Record, Selection, Source, Table};
pub use tuner::Tuner;
