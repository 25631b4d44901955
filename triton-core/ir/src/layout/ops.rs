//! Layouts under shape operations: columns are edited, and no data moves.
//!
//! | operation | the layout of its result, or of its operand | rule |
//! |---|---|---|
//! | reshape, expand, squeeze | either from the other | the columns stay as they are |
//! | `trans` | [`Layout::trans`] of the operand's | permutes the fields of every column |
//! | `broadcast` along an axis | the operand's is [`Layout::slice_axis`] of the result's | forgets a field |
//! | reduction of an axis | [`Layout::slice_axis`] of the operand's | forgets a field; lanes left with 0 hold the same result |
//! | `join` | [`Layout::join`] | a new lowest bit, in a register |
//! | `split` | [`Layout::split`], if that bit is in a register | drops it |

use super::Layout;
use super::linear::{self, Basis};
use crate::types::Shape;

/// Lowest bit and number of bits that dimension `axis` owns in an element's number.
pub(super) fn field(shape: Shape, axis: usize) -> Option<(u32, u32)> {
    let dims = shape.dims();
    let bits = dims.get(axis)?.trailing_zeros();
    Some((dims[axis + 1..].iter().map(|d| d.trailing_zeros()).sum(), bits))
}

/// The lowest `n` bits.
fn low(n: u32) -> u32 {
    1u32.checked_shl(n).unwrap_or(0).wrapping_sub(1)
}

/// The permutation of an element's bits for which dimension `i` of the result is dimension `perm[i]` of `shape`; `None` if
/// `perm` is not a permutation.
pub(super) fn transposition(shape: Shape, perm: &[usize]) -> Option<impl Fn(u32) -> u32 + use<>> {
    let seen = perm.iter().fold(0u32, |seen, &p| seen | 1u32.checked_shl(p as u32).unwrap_or(0));
    if perm.len() != shape.rank() || seen != low(shape.rank() as u32) {
        return None;
    }
    let mut moves = Vec::with_capacity(perm.len());
    let mut to = 0;
    for &p in perm.iter().rev() {
        let (from, bits) = field(shape, p)?;
        moves.push((from, low(bits), to));
        to += bits;
    }
    Some(move |c: u32| moves.iter().fold(0, |x, &(from, mask, to)| x | (c >> from & mask) << to))
}

impl Layout {
    /// The layout of a transposed tile: dimension `i` of the result is dimension `perm[i]` of `shape`. `None` if `perm`
    /// is not a permutation of the dimensions.
    pub fn trans(&self, shape: Shape, perm: &[usize]) -> Option<Layout> {
        Some(self.map(transposition(shape, perm)?))
    }

    /// Forgets a dimension of `shape`: the layout of what a reduction of it leaves, and of what is broadcast along it.
    /// Registers that now hold the same are merged; lanes and warps that do, keep a column 0 or one that others add up to.
    pub fn slice_axis(&self, shape: Shape, axis: usize) -> Option<Layout> {
        let (_, bits) = field(shape, axis)?;
        self.fold_axis(shape, axis, low(bits))
    }

    /// Forgets some bits of a dimension of `shape`, and closes the gaps that they leave: the layout of what a reduction of
    /// those bits leaves. All of them: [`Layout::slice_axis`].
    pub fn fold_axis(&self, shape: Shape, axis: usize, bits: u32) -> Option<Layout> {
        let (first, count) = field(shape, axis)?;
        let kept = move |c: u32| {
            let stays = (0..count).filter(|i| bits >> i & 1 == 0);
            stays.enumerate().fold(0, |kept, (to, from)| kept | (c >> (first + from) & 1) << to)
        };
        let left = count - (bits & low(count)).count_ones();
        Some(self.map(|c| c & low(first) | kept(c) << first | c >> first >> count << first << left).dedup())
    }

    /// A layout of the tile with `extent` elements along a new dimension `axis`, all of which one thread holds, in its first
    /// registers; `shape` is the one without it. [`Layout::slice_axis`] is the inverse.
    pub fn insert_axis(&self, shape: Shape, axis: usize, extent: u32) -> Option<Layout> {
        // The new dimension's bits are above those of the dimensions after it.
        let inner = shape.dims().get(axis..)?;
        let first: u32 = inner.iter().map(|d| d.trailing_zeros()).sum();
        let bits = extent.trailing_zeros();
        let mut layout = self.map(|c| c & low(first) | (c >> first) << (first + bits));
        layout.reg.splice(0..0, (0..bits).map(|i| 1 << (first + i)));
        Some(layout)
    }

    /// Along one dimension, warps hold the highest bits of what registers and warps hold from the lowest bit of a warp on: of each
    /// warp the elements are close together. `None` if that changes nothing, or two bits of a position hold one of those.
    pub fn with_warps_last(&self, shape: Shape, axis: usize) -> Option<Layout> {
        let (first, bits) = field(shape, axis)?;
        let of_axis = |c: u32| c >> first & low(bits) != 0;
        let lowest = self.warp.iter().copied().filter(|&c| of_axis(c)).min()?;
        let moves = |c: u32| of_axis(c) && c >= lowest;
        let mut columns: Vec<u32> = self.reg.iter().chain(&self.warp).copied().filter(|&c| moves(c)).collect();
        columns.sort_unstable();
        let mut layout = self.clone();
        let mut next = columns.iter().copied();
        for column in layout.reg.iter_mut().chain(&mut layout.warp).filter(|c| moves(**c)) {
            *column = next.next()?;
        }
        let alone = columns.iter().all(|c| c.is_power_of_two()) && columns.windows(2).all(|pair| pair[0] != pair[1]);
        (alone && layout != *self).then_some(layout)
    }

    /// Two tiles of this layout as one with a new last dimension of 2.
    pub fn join(&self) -> Layout {
        let mut layout = self.map(|c| c << 1);
        layout.reg.insert(0, 1);
        layout
    }

    /// The layout of the two halves along a last dimension of 2, if each thread has the pairs in registers of its own;
    /// otherwise `None`, and the tile must be converted first.
    pub fn split(&self) -> Option<Layout> {
        let pair = self.reg.iter().position(|&c| c == 1)?;
        let mut rest = self.clone();
        rest.reg.remove(pair);
        rest.columns().all(|c| c & 1 == 0).then(|| rest.map(|c| c >> 1))
    }

    /// The layout of a tile whose elements `f` (by columns) renumbers.
    pub fn compose(&self, f: &[u32]) -> Layout {
        self.map(|c| linear::apply(f, c))
    }

    /// Without register bits that only repeat what other registers of the thread hold.
    pub fn dedup(mut self) -> Layout {
        let mut basis = Basis::default();
        self.reg.retain(|&c| basis.add(c));
        self
    }

    /// Whether every one of `elements` elements has a position, and registers of a thread hold different ones.
    pub fn covers(&self, elements: u64) -> bool {
        let rank = linear::rank(self.columns());
        1 << self.bits() == elements && rank == self.bits() && linear::rank(self.reg.iter().copied()) == self.reg.len()
    }

    /// The position of an element, bits of register, lane and warp in this order from the lowest; the one with the
    /// fewest warp, then lane bits. `None` if no position holds it.
    pub fn position_of(&self, element: u32) -> Option<u64> {
        Basis::of(self.columns()).solve(element)
    }

    /// How many positions hold each element.
    pub fn copies(&self) -> u32 {
        let columns = self.columns().count();
        1 << (columns - linear::rank(self.columns()))
    }

    /// A representative of all layouts that differ from this one only by names of whole 32-bit registers, for elements of
    /// `bits` bits: lanes and warps stay, and so do the *pack* columns, which say which elements share a 32-bit register;
    /// the columns of the other registers become a reduced echelon form.
    pub fn canonical(&self, bits: u32) -> Layout {
        let pack = (32 / bits.clamp(1, 32)).ilog2() as usize;
        let mut layout = self.clone();
        let rest = layout.reg.split_off(pack.min(layout.reg.len()));
        layout.reg.extend(Basis::of(rest).vectors());
        layout
    }
}
