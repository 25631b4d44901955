//! Where the elements of a view are in its buffer: the arithmetic of extents, strides and offsets.
//!
//! **Invariant:** every element that a [`Layout`] describes lies in the slice that it was made for, whatever is done to its axes.

use crate::error::{Error, Result};
use crate::overlap;
use std::ops::{Bound, RangeBounds};
use triton_ir::metadata::MAX_RANK;

/// Extents and strides in a slice of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Layout<const R: usize> {
    pub(crate) shape: [usize; R],
    pub(crate) strides: [isize; R],
    /// Elements of the slice before the first of the view.
    pub(crate) offset: usize,
    /// First element of the slice in its buffer; of memory of another owner, counted from address 0.
    start: usize,
    /// Elements of the slice.
    len: usize,
    /// Whether another view of the slice has the elements that this one leaves out: its own are all that it may ever have.
    is_part: bool,
}

/// First and one past the last element of a range in `len` elements; `Err` holds them if they do not lie inside.
pub(crate) fn bounds(range: impl RangeBounds<usize>, len: usize) -> Result<(usize, usize), (usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&n) => n,
        Bound::Excluded(&n) => n.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&n) => n.saturating_add(1),
        Bound::Excluded(&n) => n,
        Bound::Unbounded => len,
    };
    if start <= end && end <= len { Ok((start, end)) } else { Err((start, end)) }
}

/// The number of elements of a shape, if its strides are those of row-major order.
pub(crate) fn contiguous(shape: &[usize], strides: &[isize]) -> Result<usize> {
    let mut len = 1usize;
    let mut is_contiguous = true;
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        is_contiguous &= extent <= 1 || stride.unsigned_abs() == len;
        len = len.saturating_mul(extent);
    }
    if is_contiguous || len == 0 {
        return Ok(len);
    }
    Err(Error::Contiguous { shape: shape.to_vec(), strides: strides.to_vec() })
}

impl<const R: usize> Layout<R> {
    /// Row-major from the start of the slice.
    #[inline]
    pub(crate) fn new(start: usize, len: usize, shape: [usize; R]) -> Result<Layout<R>> {
        const { assert!(R >= 1 && R <= MAX_RANK, "a view has 1 to 5 dimensions") };
        let shape = fits(shape)?;
        let mut strides = [1isize; R];
        for axis in (1..R).rev() {
            // A stride that does not fit is never reached, or reaches past every buffer.
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
        }
        let layout = Layout { shape, strides, offset: 0, start, len, is_part: false };
        let elements = shape.iter().try_fold(1u64, |elements, &extent| elements.checked_mul(extent as u64));
        // Without gaps it needs as many as it has.
        if elements.is_some_and(|elements| elements <= len as u64) { Ok(layout) } else { layout.inside() }
    }

    /// With strides, from the start of a slice.
    pub(crate) fn strided(start: usize, len: usize, shape: [usize; R], strides: [isize; R]) -> Result<Layout<R>> {
        const { assert!(R >= 1 && R <= MAX_RANK, "a view has 1 to 5 dimensions") };
        let shape = fits(shape)?;
        Layout { shape, strides, offset: 0, start, len, is_part: false }.with_strides(strides)
    }

    /// No elements, of no buffer.
    #[inline]
    pub(crate) fn none() -> Layout<R> {
        const { assert!(R >= 1 && R <= MAX_RANK, "a view has 1 to 5 dimensions") };
        Layout { shape: [0; R], strides: [0; R], offset: 0, start: 0, len: 0, is_part: false }
    }

    pub(crate) fn with_strides(self, strides: [isize; R]) -> Result<Layout<R>> {
        if let Some(axis) = strides.iter().position(|&stride| stride < 0) {
            return Err(Error::Stride { axis, found: strides[axis] });
        }
        Layout { strides, ..self.whole()? }.inside()
    }

    pub(crate) fn with_offset(self, elements: usize) -> Result<Layout<R>> {
        Layout { offset: self.offset.saturating_add(elements), ..self.whole()? }.inside()
    }

    #[inline]
    pub(crate) fn transpose(mut self) -> Layout<R> {
        if R >= 2 {
            self.shape.swap(R - 2, R - 1);
            self.strides.swap(R - 2, R - 1);
        }
        self
    }

    /// Axis `i` of the result is axis `order[i]`.
    pub(crate) fn permute(self, order: [usize; R]) -> Result<Layout<R>> {
        if (0..R).any(|axis| !order.contains(&axis)) {
            return Err(Error::Permutation { found: order.to_vec() });
        }
        Ok(Layout { shape: order.map(|axis| self.shape[axis]), strides: order.map(|axis| self.strides[axis]), ..self })
    }

    /// A range of an axis.
    #[inline]
    pub(crate) fn narrow(mut self, axis: usize, range: impl RangeBounds<usize>) -> Result<Layout<R>> {
        let extent = self.shape[self.axis(axis)?];
        let (start, end) =
            bounds(range, extent).map_err(|(start, end)| Error::AxisRange { axis, start, end, extent })?;
        self.shape[axis] = end - start;
        // Without elements there is no first one, and it could be named where the buffer has none.
        if !self.shape.contains(&0) {
            // It is the offset of an element, so that it fits.
            self.offset += start * self.strides[axis].unsigned_abs();
        }
        Ok(self)
    }

    /// The elements at one index of an axis, without that axis. `M` is one less than the rank.
    #[inline]
    pub(crate) fn select<const M: usize>(self, axis: usize, index: usize) -> Result<Layout<M>> {
        const { assert!(M + 1 == R, "an axis is left out") };
        let one = self.narrow(axis, index..index.saturating_add(1))?;
        let kept = |i: usize| if i < axis { i } else { i + 1 };
        Ok(one.with_axes(|i| one.shape[kept(i)], |i| one.strides[kept(i)]))
    }

    /// An axis as two, of which the second is the inner one. `M` is one more than the rank.
    #[inline]
    pub(crate) fn split<const M: usize>(self, axis: usize, extents: [usize; 2]) -> Result<Layout<M>> {
        const { assert!(M == R + 1 && M <= MAX_RANK, "an axis becomes two") };
        let (extent, stride) = (self.shape[self.axis(axis)?], self.strides[axis]);
        if extents[0].checked_mul(extents[1]) != Some(extent) {
            return Err(Error::Split { axis, extent, found: extents });
        }
        // As in `new`: one that does not fit is never reached.
        let strides = [stride.saturating_mul(extents[1].try_into().unwrap_or(isize::MAX)), stride];
        let of = |i: usize| if i <= axis { i } else { i - 1 };
        let part = |i: usize| i.checked_sub(axis).filter(|&part| part < 2);
        let split = self.with_axes(
            |i| part(i).map_or(self.shape[of(i)], |part| extents[part]),
            |i| part(i).map_or(self.strides[of(i)], |part| strides[part]),
        );
        Ok(Layout { shape: fits(split.shape)?, ..split })
    }

    /// An axis of one element in front. `M` is one more than the rank.
    #[inline]
    pub(crate) fn expand<const M: usize>(self) -> Layout<M> {
        const { assert!(M == R + 1 && M <= MAX_RANK, "an axis is added") };
        // As in `new`: one that does not fit is never reached.
        let stride = self.strides[0].saturating_mul(self.shape[0] as isize);
        self.with_axes(
            |i| i.checked_sub(1).map_or(1, |i| self.shape[i]),
            |i| i.checked_sub(1).map_or(stride, |i| self.strides[i]),
        )
    }

    /// An axis and the next one as one. `M` is one less than the rank.
    pub(crate) fn merge<const M: usize>(self, axis: usize) -> Result<Layout<M>> {
        const { assert!(M + 1 == R, "two axes become one") };
        self.axis(axis)?;
        let inner = self.axis(axis + 1)?;
        let (extents, strides) = ([self.shape[axis], self.shape[inner]], [self.strides[axis], self.strides[inner]]);
        // A product that does not fit is refused as an extent.
        let extent = extents[0].saturating_mul(extents[1]);
        let stride = match extents {
            // Along an axis of one element, or without elements, any stride is the same.
            [_, 1] => strides[0],
            [0 | 1, _] | [_, 0] => strides[1],
            // The extents fit 32 bits.
            [_, inner] if strides[1].checked_mul(inner as isize) == Some(strides[0]) => strides[1],
            _ => return Err(Error::Merge { axis, extents, strides }),
        };
        let kept = |i: usize| if i <= axis { i } else { i + 1 };
        let merged = self.with_axes(
            |i| if i == axis { extent } else { self.shape[kept(i)] },
            |i| if i == axis { stride } else { self.strides[kept(i)] },
        );
        Ok(Layout { shape: fits(merged.shape)?, ..merged })
    }

    /// The same elements in the same order, with other axes.
    pub(crate) fn reshape<const M: usize>(self, shape: [usize; M]) -> Result<Layout<M>> {
        const { assert!(M >= 1 && M <= MAX_RANK, "a view has 1 to 5 dimensions") };
        let refused =
            || Error::Reshape { from: self.shape.to_vec(), strides: self.strides.to_vec(), to: shape.to_vec() };
        let count = |shape: &[usize]| shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent as u64));
        if count(&fits(shape)?) != count(&self.shape) {
            return Err(refused());
        }
        let mut strides = [1isize; M];
        if !self.shape.contains(&0) {
            // From the last axis on: axes of the result share a run of axes that one stride walks through.
            let mut axes = (0..R).rev().filter(|&axis| self.shape[axis] > 1).peekable();
            let (mut left, mut stride) = (1, 1);
            for axis in (0..M).rev() {
                if shape[axis] == 1 {
                    strides[axis] = stride;
                    continue;
                }
                if left == 1 {
                    let Some(first) = axes.next() else { return Err(refused()) };
                    (left, stride) = (self.shape[first], self.strides[first]);
                    let mut end = stride.saturating_mul(left as isize);
                    while let Some(next) = axes.next_if(|&next| self.strides[next] == end) {
                        left *= self.shape[next];
                        end = end.saturating_mul(self.shape[next] as isize);
                    }
                }
                if !left.is_multiple_of(shape[axis]) {
                    return Err(refused());
                }
                strides[axis] = stride;
                left /= shape[axis];
                stride = stride.saturating_mul(shape[axis] as isize);
            }
        }
        Ok(self.with_axes(|i| shape[i], |i| strides[i]))
    }

    /// An axis of one element, repeated.
    pub(crate) fn broadcast(mut self, axis: usize, extent: usize) -> Result<Layout<R>> {
        let found = self.shape[self.axis(axis)?];
        if found != 1 {
            return Err(Error::Broadcast { axis, found });
        }
        (self.shape[axis], self.strides[axis]) = (extent, 0);
        self.shape = fits(self.shape)?;
        Ok(self)
    }

    /// Other axes in the same slice, from the first element on.
    pub(crate) fn as_strided<const M: usize>(self, shape: [usize; M], strides: [isize; M]) -> Result<Layout<M>> {
        const { assert!(M >= 1 && M <= MAX_RANK, "a view has 1 to 5 dimensions") };
        let shape = fits(shape)?;
        self.with_axes(|i| shape[i], |_| 0).with_strides(strides)
    }

    /// The same where no two indices may alias.
    pub(crate) fn as_strided_disjoint<const M: usize>(
        self,
        shape: [usize; M],
        strides: [isize; M],
    ) -> Result<Layout<M>> {
        self.as_strided(shape, strides)?.disjoint()
    }

    /// The same elements with other axes.
    #[inline]
    fn with_axes<const M: usize>(self, shape: impl Fn(usize) -> usize, strides: impl Fn(usize) -> isize) -> Layout<M> {
        let Layout { offset, start, len, is_part, .. } = self;
        Layout { shape: std::array::from_fn(shape), strides: std::array::from_fn(strides), offset, start, len, is_part }
    }

    /// The elements before an index of an axis, and those from it on. Neither gets any of the other's later.
    pub(crate) fn split_at(self, axis: usize, index: usize) -> Result<[Layout<R>; 2]> {
        let part = |layout: Layout<R>| Layout { is_part: true, ..layout };
        Ok([part(self.narrow(axis, ..index)?), part(self.narrow(axis, index..)?)])
    }

    /// Rejects what may name elements that it does not have.
    fn whole(self) -> Result<Layout<R>> {
        if self.is_part { Err(Error::Part) } else { Ok(self) }
    }

    /// An axis that exists.
    #[inline]
    fn axis(&self, axis: usize) -> Result<usize> {
        if axis < R { Ok(axis) } else { Err(Error::Axis { found: axis, rank: R }) }
    }

    /// Rejects a view that is out of bounds of the slice.
    #[inline]
    fn inside(self) -> Result<Layout<R>> {
        match self.needed() {
            Some(needed) if needed <= self.len as u64 => Ok(self),
            needed => Err(Error::View {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                offset: self.offset,
                needed: needed.unwrap_or(u64::MAX),
                len: self.len,
            }),
        }
    }

    /// How many elements the slice must have; `None` if that does not fit.
    fn needed(&self) -> Option<u64> {
        let offset = self.offset as u64;
        if self.shape.contains(&0) {
            return Some(offset);
        }
        self.shape.iter().zip(self.strides).try_fold(offset.checked_add(1)?, |needed, (extent, stride)| {
            needed.checked_add((*extent as u64 - 1).checked_mul(stride.unsigned_abs() as u64)?)
        })
    }

    /// Rejects two indices that alias.
    pub(crate) fn disjoint(self) -> Result<Layout<R>> {
        match overlap::find(self.shape, self.strides) {
            None => Ok(self),
            Some(overlap) => Err(Error::Overlap {
                shape: self.shape.to_vec(),
                strides: self.strides.to_vec(),
                reason: overlap.to_string(),
            }),
        }
    }

    /// Bytes of the buffer before the first element of the view; of memory of another owner its address.
    #[inline]
    pub(crate) fn bytes<T>(&self) -> u64 {
        (self.start + self.offset) as u64 * size_of::<T>() as u64
    }
}

/// Extents that kernels can count.
#[inline]
fn fits<const R: usize>(shape: [usize; R]) -> Result<[usize; R]> {
    match shape.iter().position(|&extent| i32::try_from(extent).is_err()) {
        None => Ok(shape),
        Some(axis) => Err(Error::Extent { axis, found: shape[axis] }),
    }
}
