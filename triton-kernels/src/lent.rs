//! Memory that operations take of their stream: nothing is allocated where an earlier launch has left enough, nothing waits, and all of it can be taken in
//! a capture. An error names the operation.

use crate::error::{Error, Result};
#[cfg(feature = "contract")]
use triton::Constants;
#[cfg(any(feature = "gemm", feature = "rows", feature = "sparse"))]
use triton::Scratch;
#[cfg(any(feature = "conv", feature = "attention"))]
use triton::Workspace;
use triton::{Element, Stream};

/// Memory that is zero, and left so: of counters, and of sums that programs add to.
#[cfg(any(feature = "gemm", feature = "rows", feature = "sparse"))]
pub(crate) fn scratch<T: Element>(op: &'static str, stream: &Stream, len: usize) -> Result<Scratch<T>> {
    stream.scratch(len).map_err(|error| Error::Memory { op, error })
}

/// Memory of intermediate results, all of which a launch writes before the next one reads them.
#[cfg(any(feature = "conv", feature = "attention"))]
pub(crate) fn workspace<T: Element>(op: &'static str, stream: &Stream, len: usize) -> Result<Workspace<T>> {
    stream.workspace(len).map_err(|error| Error::Memory { op, error })
}

/// Numbers that follow from shapes.
#[cfg(feature = "contract")]
pub(crate) fn constants<T: Element>(op: &'static str, stream: &Stream, values: &[T]) -> Result<Constants<T>> {
    stream.constants(values).map_err(|error| Error::Memory { op, error })
}

/// What is told of memory that operands keep, such as the tables of a layout.
#[cfg(feature = "sparse")]
pub(crate) fn named(op: &'static str) -> impl Fn(Error) -> Error {
    move |error| if let Error::Runtime(error) = error { Error::Memory { op, error } } else { error }
}
