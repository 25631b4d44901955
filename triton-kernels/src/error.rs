//! The one error type: what was found, what was expected, and how to fix it.

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation was not enqueued. Operands are checked before anything is: none has changed.
///
/// That an output overlaps an input is not an error of a launch, as the program does not compile: an output is borrowed mutably.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operand has another extent than the others require.
    #[error("`{op}`: `{operand}` has extent {found} along axis {axis}, but {expected} is expected; {fix}")]
    #[non_exhaustive]
    Shape {
        /// The operation.
        op: &'static str,
        /// The operand, as the operation's documentation names it.
        operand: &'static str,
        /// The axis, counted from 0.
        axis: usize,
        /// Its extent.
        found: usize,
        /// The extent that it should have.
        expected: usize,
        /// Where that follows from.
        fix: &'static str,
    },

    /// A number is not in its range.
    #[error("`{op}`: `{parameter}` is {found}, but {expected} is expected; {fix}")]
    #[non_exhaustive]
    Value {
        /// The operation.
        op: &'static str,
        /// The number, as the operation's documentation names it.
        parameter: &'static str,
        /// What was passed.
        found: String,
        /// What may be passed.
        expected: &'static str,
        /// What to do.
        fix: &'static str,
    },

    /// There is no code for this combination of options.
    #[error("`{op}`: {found} is not supported, only {expected}; {fix}")]
    #[non_exhaustive]
    Unsupported {
        /// The operation.
        op: &'static str,
        /// What was asked for.
        found: String,
        /// What there is.
        expected: &'static str,
        /// What to do.
        fix: &'static str,
    },

    /// No instance of a kernel has this name.
    #[error("`{op}`: there is no instance `{found}` for these operands; there are: {}", .expected.join(", "))]
    #[non_exhaustive]
    Instance {
        /// The operation.
        op: &'static str,
        /// The name.
        found: String,
        /// The names of the instances.
        expected: Vec<String>,
    },

    /// The notation of a contraction has a mistake.
    #[error("`{op}`: in `{text}`, {found}, but {expected} is expected; {fix}")]
    #[non_exhaustive]
    Notation {
        /// The operation.
        op: &'static str,
        /// The notation.
        text: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
        /// What to do.
        fix: &'static str,
    },

    /// An operand has another number of axes than the others require.
    #[error("`{op}`: `{operand}` has {found} axes, but {expected} are expected; {fix}")]
    #[non_exhaustive]
    Rank {
        /// The operation.
        op: &'static str,
        /// The operand, as the operation's documentation names it.
        operand: &'static str,
        /// Its axes.
        found: usize,
        /// How many it should have.
        expected: usize,
        /// Where that follows from.
        fix: &'static str,
    },

    /// Axes that an operation takes as one, `..` of its declaration, are not one in memory.
    #[error(
        "`{op}`: the axes of `{operand}` that stand for `..` are not one in memory: its shape is {shape:?}, its strides are {strides:?}; \
         copy it to a contiguous tensor, or launch its parts"
    )]
    #[non_exhaustive]
    Merge {
        /// The operation.
        op: &'static str,
        /// The operand.
        operand: &'static str,
        /// Its extents.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },

    /// An operand of a contraction has another number of axes than letters.
    #[error("`{op}`: `{operand}` has {found} axes, but `{letters}` names {expected}; name each axis by a letter")]
    #[non_exhaustive]
    Letters {
        /// The operation.
        op: &'static str,
        /// The operand.
        operand: &'static str,
        /// Its axes.
        found: usize,
        /// Its letters.
        letters: String,
        /// How many they are.
        expected: usize,
    },

    /// A letter has two extents.
    #[error(
        "`{op}`: `{letter}` is {found} along axis {axis} of `{operand}`, but {expected} along axis {other_axis} of `{other}`; a letter has one extent"
    )]
    #[non_exhaustive]
    Extent {
        /// The operation.
        op: &'static str,
        /// The letter.
        letter: char,
        /// The operand.
        operand: &'static str,
        /// The axis, counted from 0.
        axis: usize,
        /// Its extent.
        found: usize,
        /// The operand that the extent is expected of.
        other: &'static str,
        /// Its axis.
        other_axis: usize,
        /// The extent there.
        expected: usize,
    },

    /// There is no memory for intermediate results.
    #[error("`{op}`: memory for intermediate results: {error}")]
    #[non_exhaustive]
    Memory {
        /// The operation.
        op: &'static str,
        /// What the stream says.
        error: triton::Error,
    },

    /// The device, the stream or a view.
    #[error(transparent)]
    Runtime(triton::Error),
}

/// A shape that a buffer or a tensor did not get.
impl<X> From<triton::ShapeError<X>> for Error {
    fn from(refused: triton::ShapeError<X>) -> Error {
        triton::Error::from(refused).into()
    }
}

/// The runtime's, or that of an operation that was passed on as one of the runtime's.
impl From<triton::Error> for Error {
    fn from(error: triton::Error) -> Error {
        if let triton::Error::Other(other) = &error
            && let Some(own) = other.downcast_ref::<Error>()
        {
            return own.clone();
        }
        Error::Runtime(error)
    }
}

/// In closures that return the runtime's error, such as that of [`Stream::capture`](triton::Stream::capture), operations are followed by `?`, too.
/// [`Error::from`] gives back what it was.
impl From<Error> for triton::Error {
    fn from(error: Error) -> triton::Error {
        if let Error::Runtime(error) = error { error } else { triton::Error::other(error) }
    }
}

/// Checks an extent.
#[inline]
pub(crate) fn extent(
    op: &'static str,
    operand: &'static str,
    axis: usize,
    [found, expected]: [usize; 2],
    fix: &'static str,
) -> Result<()> {
    if found == expected { Ok(()) } else { Err(differs(op, operand, axis, [found, expected], fix)) }
}

#[cold]
fn differs(
    op: &'static str,
    operand: &'static str,
    axis: usize,
    [found, expected]: [usize; 2],
    fix: &'static str,
) -> Error {
    Error::Shape { op, operand, axis, found, expected, fix }
}

/// Checks that products of the extents of an operand can be computed, whatever of it has no elements. Not inlined: the driver evicts the code of a launch, so
/// that each line of it is fetched again.
#[inline(never)]
pub(crate) fn size(op: &'static str, operand: &'static str, shape: &[usize]) -> Result<()> {
    let count = shape.iter().try_fold(1usize, |count, extent| count.checked_mul((*extent).max(1)));
    match count.filter(|count| *count < 1 << 56) {
        Some(_) => Ok(()),
        None => Err(too_large(op, operand, shape)),
    }
}

#[cold]
fn too_large(op: &'static str, operand: &'static str, shape: &[usize]) -> Error {
    Error::Unsupported {
        op,
        found: format!("`{operand}` of {shape:?}"),
        expected: "extents whose product is less than 2⁵⁶, with 1 for an extent of 0",
        fix: "divide the operand",
    }
}

/// Checks a condition on a number.
#[inline]
pub(crate) fn value(
    op: &'static str,
    parameter: &'static str,
    found: impl std::fmt::Display,
    holds: bool,
    expected: &'static str,
    fix: &'static str,
) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Value { op, parameter, found: found.to_string(), expected, fix }) }
}
