//! Choosing the member of a [pool](crate::pool) that a launch runs, by the shape of the call.
//!
//! `KERNEL_tuned(..).key([m, n, k]).with(&selector).launch(&stream, grid)` asks a [`Selector`], which is told of the [`Call`]: its key, the
//! members, and which of them fit. It may launch members to time them. What the launches change is [saved](Call::save) by it.
//!
//! **Invariant:** nothing here opens a file, reads the time or allocates on the way of a launch. A selector does what it does.
//!
//! Code that is generic is a few lines a pool: what is asked of a pool goes through a table of functions.

mod call;
mod key;
mod saved;
mod selecting;

pub use crate::kernel::Code;
/// For libraries that choose without a [`Selector`]: they tell tools what they chose, and why.
#[doc(hidden)]
pub use crate::trace::{Candidate, is_on as is_told, select as tell};
pub use call::{Call, Explained, Pending, Selector};
pub use key::{Key, KeyWord};
pub use saved::Output;
pub use selecting::{Selecting, run, selected};
pub use triton_ir::metadata::Machine;
