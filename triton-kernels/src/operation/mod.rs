//! What every operation is made of: operands with their extents, checks, and the call that its body launches by.
//!
//! The attribute `operation` writes the builder, and calls this: "How to add an operation to the library" in CONTRIBUTING.md.

mod call;
mod checks;
mod operand;

use crate::error::Result;
use triton::Stream;

pub use call::{Asked, Call, Request};
pub(crate) use checks::Checks;
pub use operand::{Extents, Operand, Shaped};
pub(crate) use triton_kernels_macros::operation;

/// A builder, for what is written once for all of them.
pub trait Declared: Sized {
    /// Operands by name, with their axes: `("x", "[.., c]")`.
    const OPERANDS: &'static [(&'static str, &'static str)];

    /// The extents of each operand, if it was passed.
    fn shapes(&mut self) -> Vec<Option<&mut Extents>>;

    /// Compares extents and checks numbers.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Rank`](crate::Error::Rank), [`Error::Value`](crate::Error::Value).
    fn check(&self) -> Result<()>;

    /// Runs the body, or asks it for the instance that it would run.
    ///
    /// # Errors
    /// Those of the operation.
    fn run(self, stream: &Stream, asked: Option<&Asked>) -> Result<()>;
}

/// Checks an operation and enqueues it.
pub(crate) fn launch(operation: impl Declared, stream: &Stream) -> Result<()> {
    operation.check()?;
    operation.run(stream, None)
}

/// The instance that an operation would run.
pub(crate) fn selected(operation: impl Declared, stream: &Stream) -> Result<String> {
    operation.check()?;
    let asked = Asked::default();
    operation.run(stream, Some(&asked))?;
    Ok(asked.into_inner().unwrap_or_else(|| "nothing".to_string()))
}
