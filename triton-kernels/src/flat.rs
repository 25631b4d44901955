//! Elementwise operations over matrices: where memory allows it, all operands as one row.

use crate::Result;
use triton::Element;
use triton::prelude::*;

/// How operands of one shape are passed to an elementwise kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axes {
    /// As one row.
    Flat,
    /// As one row, columns after one another.
    Transposed,
    /// As they are.
    Both,
}

/// The most elements of an axis.
const MOST: usize = i32::MAX as usize;

/// How operands of this shape with these strides are passed. An order of their own is kept if elements have numbers.
pub(crate) fn axes(shape: [usize; 2], strides: &[[isize; 2]], numbered: bool) -> Axes {
    let [rows, columns] = shape;
    if rows.checked_mul(columns).is_none_or(|count| count > MOST) {
        return Axes::Both;
    }
    let follows = |inner: isize, extent: usize, outer: isize| {
        isize::try_from(extent).is_ok_and(|extent| inner.checked_mul(extent) == Some(outer))
    };
    if rows == 1 || columns == 1 || strides.iter().all(|&[outer, inner]| follows(inner, columns, outer)) {
        Axes::Flat
    } else if !numbered && strides.iter().all(|&[inner, outer]| follows(inner, rows, outer)) {
        Axes::Transposed
    } else {
        Axes::Both
    }
}

impl Axes {
    /// An operand that is read.
    pub(crate) fn view<T: Element>(self, view: View<'_, T, 2>) -> Result<View<'_, T, 2>> {
        let [rows, columns] = view.shape();
        Ok(match self {
            Axes::Flat => view.merge(0)?.split(0, [1, rows * columns])?,
            Axes::Transposed => view.transpose().merge(0)?.split(0, [1, rows * columns])?,
            Axes::Both => view,
        })
    }

    /// An operand that is written.
    pub(crate) fn view_mut<T: Element>(self, view: ViewMut<'_, T, 2>) -> Result<ViewMut<'_, T, 2>> {
        let [rows, columns] = view.shape();
        Ok(match self {
            Axes::Flat => view.merge(0)?.split(0, [1, rows * columns])?,
            Axes::Transposed => view.transpose().merge(0)?.split(0, [1, rows * columns])?,
            Axes::Both => view,
        })
    }

    /// The extents that a kernel sees.
    pub(crate) fn shape(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        if self == Axes::Both { [rows, columns] } else { [1, rows * columns] }
    }
}

/// Whether a tile of R rows is for operands of these extents: one row has tiles of one.
pub(crate) fn fits(rows: i32, [found, _]: [usize; 2]) -> bool {
    (rows == 1) == (found == 1)
}

/// How many programs have a tile of R times N elements each: all along the first axis of a grid, of which there can be most.
pub(crate) fn programs([rows, columns]: [usize; 2], of_rows: i32, of_columns: i32) -> usize {
    rows.div_ceil(of_rows.max(1) as usize) * columns.div_ceil(of_columns.max(1) as usize)
}

/// Where the tile of this program begins.
#[triton::function]
pub fn corner<const R: i32, const N: i32>(columns: i32) -> (i32, i32) {
    let across = (columns + (N - 1)) / N;
    let program = program_id(0);
    (program / across * R, program % across * N)
}
