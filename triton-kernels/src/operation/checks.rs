//! Extents of operands against the declaration.

use super::operand::Extents;
use crate::error::{self, Error, Result};
use std::fmt;

/// Compares the extents of the operands with what the declaration says.
pub(crate) struct Checks {
    op: &'static str,
    /// The declaration: `x is [.., c], y is [.., c]`.
    fix: &'static str,
}

impl Checks {
    pub(crate) fn new(op: &'static str, fix: &'static str) -> Checks {
        Checks { op, fix }
    }

    /// That the number of elements can be computed.
    pub(crate) fn size(&self, operand: &'static str, found: &Extents) -> Result<()> {
        error::size(self.op, operand, found.all())
    }

    /// One extent.
    #[inline]
    pub(crate) fn extent(&self, operand: &'static str, found: &Extents, axis: usize, expected: usize) -> Result<()> {
        error::extent(self.op, operand, axis, [found.at(axis), expected], self.fix)
    }

    /// The extents of `..`, behind the first `before` axes and before the last `after`.
    pub(crate) fn rest(
        &self,
        operand: &'static str,
        found: &Extents,
        before: usize,
        after: usize,
        expected: &[usize],
    ) -> Result<()> {
        let rest = found.rest(before, after);
        // No axes are one of extent 1, where a view has to have an axis.
        if expected.is_empty() && rest == [1] {
            return Ok(());
        }
        if rest.len() != expected.len() {
            let (op, fix) = (self.op, self.fix);
            return Err(Error::Rank {
                op,
                operand,
                found: found.rank(),
                expected: before + expected.len() + after,
                fix,
            });
        }
        let axes = rest.iter().zip(expected).enumerate();
        axes.into_iter().try_for_each(|(i, (found, expected))| {
            error::extent(self.op, operand, before + i, [*found, *expected], self.fix)
        })
    }

    /// A number.
    pub(crate) fn value(
        &self,
        parameter: &'static str,
        found: impl fmt::Display,
        holds: bool,
        expected: &'static str,
        fix: &'static str,
    ) -> Result<()> {
        error::value(self.op, parameter, found, holds, expected, fix)
    }
}
