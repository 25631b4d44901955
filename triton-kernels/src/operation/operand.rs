//! Operands: views with the extents that were passed, and axes that are merged.

use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::fmt;
use triton::{Element, View, ViewMut};

/// The most axes of a view.
const MAX_RANK: usize = 5;

/// The extents of an operand, as it was passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Extents {
    rank: usize,
    of: [usize; MAX_RANK],
}

impl Extents {
    pub(crate) fn new(shape: &[usize]) -> Extents {
        Extents { rank: shape.len(), of: std::array::from_fn(|i| shape.get(i).copied().unwrap_or(0)) }
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The extent of an axis.
    pub fn at(&self, axis: usize) -> usize {
        self.of[axis]
    }

    /// All of them.
    pub fn all(&self) -> &[usize] {
        &self.of[..self.rank]
    }

    /// All of them, to be changed: what checks of wrong shapes do.
    pub fn all_mut(&mut self) -> &mut [usize] {
        &mut self.of[..self.rank]
    }

    /// Those between the first and the last ones.
    pub fn rest(&self, before: usize, after: usize) -> &[usize] {
        self.all().get(before..self.rank.saturating_sub(after)).unwrap_or_default()
    }
}

impl fmt::Debug for Extents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all().fmt(f)
    }
}

/// What has extents.
pub trait Shaped {
    /// They.
    fn extents(&self) -> Extents;
}

impl<T, const R: usize> Shaped for View<'_, T, R> {
    fn extents(&self) -> Extents {
        Extents::new(&self.shape())
    }
}

impl<T, const R: usize> Shaped for ViewMut<'_, T, R> {
    fn extents(&self) -> Extents {
        Extents::new(&self.shape())
    }
}

/// An operand: what a kernel takes, with its merged axes as one, and the extents that were passed. Where axes are not one in memory it is their
/// strides.
#[derive(Clone, Debug)]
pub struct Operand<V> {
    of: std::result::Result<V, Unmerged>,
    shape: Extents,
}

/// Why a view has no merged axis.
#[derive(Clone, Debug)]
enum Unmerged {
    Strides([isize; MAX_RANK]),
    Error(triton::Error),
}

/// A view of `R` axes as one of `M`: R + 1 − M axes from `at` on are merged.
trait Merge<const M: usize>: Shaped + Sized {
    type Merged;
    fn merged(self, at: usize) -> Operand<Self::Merged>;
}

macro_rules! merge {
    ($($view:ident)*) => {$(
        impl<'a, T: Element, const R: usize, const M: usize> Merge<M> for $view<'a, T, R> {
            type Merged = $view<'a, T, M>;

            fn merged(self, at: usize) -> Operand<$view<'a, T, M>> {
                const { assert!(R + 1 >= M, "an operand has an axis for each letter") };
                let (shape, strides, extents) = (self.shape(), self.strides(), self.extents());
                let merging = R + 1 - M;
                let merged: [usize; M] = std::array::from_fn(|i| match i.cmp(&at) {
                    Ordering::Less => shape[i],
                    Ordering::Equal => shape[at..at + merging].iter().fold(1, |all: usize, of| all.saturating_mul(*of)),
                    Ordering::Greater => shape[i + merging - 1],
                });
                let of = self.reshape(merged).map_err(|error| {
                    if matches!(error, triton::Error::Reshape { .. }) {
                        Unmerged::Strides(std::array::from_fn(|i| strides.get(i).copied().unwrap_or(0)))
                    } else {
                        Unmerged::Error(error)
                    }
                });
                Operand { of, shape: extents }
            }
        }
    )*};
}

merge!(View ViewMut);

impl<V: Shaped> Operand<V> {
    /// One without axes to merge.
    pub(crate) fn new(of: V) -> Operand<V> {
        Operand { shape: of.extents(), of: Ok(of) }
    }
}

impl<V> Operand<V> {
    /// One of these extents that a kernel cannot take: the error is that of the launch, unless a check of extents has another one.
    #[cfg(feature = "reduce")]
    pub(crate) fn failed(shape: &[usize], error: impl Into<Error>) -> Operand<V> {
        Operand { shape: Extents::new(shape), of: Err(Unmerged::Error(error.into().into())) }
    }

    /// One whose axes from `at` on are merged.
    #[allow(private_bounds, reason = "views alone are merged")]
    pub(crate) fn merged<W: Merge<M, Merged = V>, const M: usize>(of: W, at: usize) -> Operand<V> {
        of.merged(at)
    }

    /// The extents that were passed.
    pub(crate) fn shape(&self) -> &Extents {
        &self.shape
    }

    pub(crate) fn shape_mut(&mut self) -> &mut Extents {
        &mut self.shape
    }

    /// What a kernel takes.
    ///
    /// # Errors
    /// [`Error::Merge`].
    pub(crate) fn take(self, op: &'static str, operand: &'static str) -> Result<V> {
        let shape = self.shape;
        self.of.map_err(|unmerged| match unmerged {
            Unmerged::Strides(strides) => {
                let (shape, strides) = (shape.all().to_vec(), strides[..shape.rank].to_vec());
                Error::Merge { op, operand, shape, strides }
            }
            Unmerged::Error(error) => error.into(),
        })
    }
}
