//! What users write: kernels as a newcomer from Triton writes them, Triton's tutorials above all, by pointers and by views; and what runs and checks
//! them.

mod attention;
mod cases;
pub(crate) mod elementwise;
mod layer_norm;
mod locked;
mod mixed;
mod operands;
mod persistent;
pub(crate) mod products;
mod rows;
mod run;
mod scans;

pub use cases::{Case, cases};
pub use operands::{Row, Spelling};
pub use run::prepare;
