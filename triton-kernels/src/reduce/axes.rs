//! Which axes are reduced, and an operand as [before, reduced, after].

use crate::error::Error;
use crate::operation::Operand;
use triton::prelude::*;

/// The axes that are reduced: one, `1`; several that follow each other, `[1, 2]` or `1..3`; or all of them, `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Which);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    All,
    /// From one to another, which is not one of them.
    Some(usize, usize),
    /// What does not follow each other.
    Apart(Vec<usize>),
}

impl From<std::ops::RangeFull> for Axes {
    fn from(_: std::ops::RangeFull) -> Axes {
        Axes(Which::All)
    }
}

impl From<usize> for Axes {
    fn from(axis: usize) -> Axes {
        Axes(Which::Some(axis, axis.saturating_add(1)))
    }
}

impl From<std::ops::Range<usize>> for Axes {
    fn from(axes: std::ops::Range<usize>) -> Axes {
        Axes(Which::Some(axes.start, axes.end))
    }
}

impl From<&[usize]> for Axes {
    fn from(axes: &[usize]) -> Axes {
        let first = axes.first().copied().unwrap_or(0);
        let follows = axes.iter().zip(first..).all(|(found, expected)| *found == expected);
        Axes(if follows { Which::Some(first, first + axes.len()) } else { Which::Apart(axes.to_vec()) })
    }
}

impl<const N: usize> From<[usize; N]> for Axes {
    fn from(axes: [usize; N]) -> Axes {
        axes[..].into()
    }
}

/// What x and y are to a reduction: [before, reduced, after] and [before, after].
pub(super) struct Seen<'a, T> {
    pub(super) x: Operand<View<'a, T, 3>>,
    pub(super) y: Operand<ViewMut<'a, T, 2>>,
}

/// x and y as a reduction takes them. What is wrong with axes or extents is the error of the launch.
pub(super) fn seen<'a, T: Element, const R: usize, const Q: usize>(
    op: &'static str,
    x: View<'a, T, R>,
    axes: &Axes,
    y: ViewMut<'a, T, Q>,
) -> Seen<'a, T> {
    let (shape, of_y) = (x.shape(), y.shape());
    let (first, end) = match axes.0 {
        Which::All => (0, R),
        Which::Some(first, end) if first <= end && end <= R => (first, end),
        Which::Some(..) | Which::Apart(_) => {
            let found = match &axes.0 {
                Which::Apart(axes) => format!("{axes:?} of {R} axes"),
                Which::Some(first, end) => format!("{first}..{end} of {R} axes"),
                Which::All => format!(".. of {R} axes"),
            };
            let expected = "axes of x that follow each other, in their order";
            let fix = "permute x, or reduce one axis after the other";
            let error = Error::Value { op, parameter: "axes", found, expected, fix };
            return Seen { x: Operand::failed(&[1; 3], error.clone()), y: Operand::failed(&[1; 2], error) };
        }
    };
    let product = |of: &[usize]| of.iter().fold(1usize, |all, extent| all.saturating_mul(*extent));
    let [p, r, q] = [product(&shape[..first]), product(&shape[first..end]), product(&shape[end..])];
    let strides = x.strides();
    let unmerged = |operand, shape: &[usize], strides: &[isize]| Error::Merge {
        op,
        operand,
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    };
    let of_x = match x.reshape([p, r, q]) {
        Ok(x) => Operand::new(x),
        Err(triton::Error::Reshape { .. }) => Operand::failed(&[p, r, q], unmerged("x", &shape, &strides)),
        Err(error) => Operand::failed(&[p, r, q], error),
    };
    if let Err(error) = is_left(op, &shape, first..end, &of_y) {
        return Seen { x: of_x, y: Operand::failed(&[p, q], error) };
    }
    let strides = y.strides();
    let y = match y.reshape([p, q]) {
        Ok(y) => Operand::new(y),
        Err(triton::Error::Reshape { .. }) => Operand::failed(&[p, q], unmerged("y", &of_y, &strides)),
        Err(error) => Operand::failed(&[p, q], error),
    };
    Seen { x: of_x, y }
}

/// That y has the axes of x that are left, or all of them, with 1 for those that are reduced. Nothing is allocated.
fn is_left(op: &'static str, x: &[usize], reduced: std::ops::Range<usize>, y: &[usize]) -> crate::Result<()> {
    let fix = "y has the axes of x that are left, or all of them with extent 1 for each that is reduced";
    let is_kept = y.len() == x.len();
    let of = |(i, extent): (usize, &usize)| match (reduced.contains(&i), is_kept) {
        (false, _) => Some(*extent),
        (true, true) => Some(1),
        (true, false) => None,
    };
    let left = x.iter().enumerate().filter_map(of);
    let count = left.clone().count();
    // What has no axes is one element.
    if y.len() != count.max(1) {
        return Err(Error::Rank { op, operand: "y", found: y.len(), expected: count.max(1), fix });
    }
    let mut axes = y.iter().zip(left.chain((count == 0).then_some(1))).enumerate();
    axes.try_for_each(|(i, (found, expected))| crate::error::extent(op, "y", i, [*found, expected], fix))
}
