//! How the elements of a result are divided among programs: axes that are one in memory of all operands are merged, and what is repeated along the
//! innermost one is read once.

use super::operand::{AXES, Elements, ElementsMut};
use crate::Result;
use crate::divisor::Divisor;
use crate::error::{Error, extent};
use crate::flat::programs;
use crate::grid::parts;
use crate::operation::{Call, Shaped};
use std::ops::Range;
use triton::launch::mode::Safe;
use triton::{Choice, Element, Launch, Tuned, View, ViewMut};

/// The most elements of a merged axis.
const MOST: usize = i32::MAX as usize;
/// The shortest rows that tiles of rows are for: of shorter ones they would be mostly empty.
const SHORT: usize = 48;
/// The shortest axes whose tiles are turned.
const LEAST: usize = 16;
/// Elements of a tile of one row.
const LONG: usize = 2048;

/// Extents and strides of an operand, with axes in front where it has fewer than five.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    name: &'static str,
    rank: usize,
    shape: [usize; AXES],
    strides: [isize; AXES],
}

impl<T: Element> Elements<'_, T> {
    /// What the walk needs of it.
    pub fn layout(&self, name: &'static str) -> Layout {
        let (mut shape, strides) = (self.view.shape(), self.view.strides());
        if self.extents().rank() == 0 {
            // It is absent.
            shape = [1; AXES];
        }
        Layout { name, rank: self.extents().rank(), shape, strides }
    }
}

impl<T: Element> ElementsMut<'_, T> {
    /// What the walk needs of it.
    pub fn layout(&self, name: &'static str) -> Layout {
        let (shape, strides) = (self.view.shape(), self.view.strides());
        Layout { name, rank: self.extents().rank(), shape, strides }
    }
}

/// The order in which elements are visited, of N operands and a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk<const N: usize> {
    /// Extents, the innermost last, with 1s in front.
    shape: [usize; AXES],
    /// Strides of the result.
    y: [isize; AXES],
    /// Strides of operands, 0 where they are repeated.
    x: [[isize; AXES]; N],
    /// Whether elements are numbered through, and found one by one.
    pub is_linear: bool,
}

impl Walk<1> {
    /// The same with the axis behind all others but the innermost one along which x is contiguous, if that is another one and both are long enough for tiles.
    pub(super) fn turned(mut self) -> Option<Walk<1>> {
        let [x] = self.x;
        let is_long = |axis: usize| self.shape[axis] >= LEAST;
        if x[AXES - 1] <= 1 || !is_long(AXES - 1) {
            return None;
        }
        let axis = (0..AXES - 1).find(|axis| x[*axis] == 1 && is_long(*axis))?;
        self.shape[axis..AXES - 1].rotate_left(1);
        self.y[axis..AXES - 1].rotate_left(1);
        self.x[0][axis..AXES - 1].rotate_left(1);
        self.is_linear = false;
        Some(self)
    }
}

impl<const N: usize> Walk<N> {
    /// Nothing, if the result has no elements.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Rank`](crate::Error::Rank).
    pub fn new(call: Call<'_>, y: Layout, operands: [Layout; N]) -> Result<Option<Walk<N>>> {
        let mut x = [[0; AXES]; N];
        for (strides, operand) in x.iter_mut().zip(&operands) {
            if operand.rank > y.rank {
                let (op, operand, found, expected) = (call.op, operand.name, operand.rank, y.rank);
                return Err(Error::Rank { op, operand, found, expected, fix: FIX });
            }
            for (axis, stride) in strides.iter_mut().enumerate() {
                let found = operand.shape[axis];
                if found != 1 {
                    let own = (axis + operand.rank).saturating_sub(AXES);
                    extent(call.op, operand.name, own, [found, y.shape[axis]], FIX)?;
                    *stride = operand.strides[axis];
                }
            }
        }
        if y.shape.contains(&0) {
            return Ok(None);
        }
        let mut walk = Walk { shape: y.shape, y: y.strides, x, is_linear: false };
        walk.merge();
        walk.is_linear = walk.is_short();
        Ok(Some(walk))
    }

    /// Brings axes into the order of the result in memory, and makes one of neighbours that are one in memory of all.
    fn merge(&mut self) {
        let mut order: [usize; AXES] = std::array::from_fn(|axis| axis);
        // Axes of one element are first, whatever their strides are.
        order.sort_by_key(|axis| (self.shape[*axis] > 1, std::cmp::Reverse(self.y[*axis])));
        let of = *self;
        let mut last = AXES - 1;
        let set = |walk: &mut Walk<N>, to: usize, from: usize| {
            (walk.shape[to], walk.y[to]) = (of.shape[from], of.y[from]);
            (0..N).for_each(|i| walk.x[i][to] = of.x[i][from]);
        };
        set(self, last, order[last]);
        for axis in order.into_iter().rev().skip(1) {
            let follows = |outer: isize, inner: isize| inner.checked_mul(self.shape[last] as isize) == Some(outer);
            let count = self.shape[last].checked_mul(of.shape[axis]).filter(|count| *count <= MOST);
            let is_one = follows(of.y[axis], self.y[last]) && (0..N).all(|i| follows(of.x[i][axis], self.x[i][last]));
            match count {
                Some(count) if is_one || of.shape[axis] == 1 => self.shape[last] = count,
                _ => {
                    last -= 1;
                    set(self, last, axis);
                }
            }
        }
        for axis in 0..last {
            (self.shape[axis], self.y[axis]) = (1, 0);
            self.x.iter_mut().for_each(|strides| strides[axis] = 0);
        }
    }

    /// Whether tiles would be mostly empty: rows are short, and there are several.
    fn is_short(&self) -> bool {
        self.shape[AXES - 1] < SHORT && self.shape[AXES - 2] > 1
    }

    /// The launches that visit all elements.
    pub fn parts(self) -> impl Iterator<Item = Part<N>> {
        let Walk { shape, .. } = self;
        let outer = (0..shape[0]).flat_map(move |first| {
            parts(shape[1], 1)
                .flat_map(move |second| parts(shape[2], 1).map(move |third| [second.clone(), third]))
                .map(move |[second, third]| (first, second, third))
        });
        outer.map(move |(first, second, third)| Part { walk: self, first, second, third })
    }
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Part<const N: usize> {
    walk: Walk<N>,
    first: usize,
    second: Range<usize>,
    third: Range<usize>,
}

impl<const N: usize> Part<N> {
    /// An operand as tiles are read of it, and as it is read once for each row, of which one has no elements.
    ///
    /// # Errors
    /// None that operands of a walk have.
    pub fn operand<'a, T: Element>(
        &self,
        i: usize,
        of: Elements<'a, T>,
    ) -> triton::Result<(View<'a, T, 4>, View<'a, T, 3>)> {
        let (strides, device) = (self.walk.x[i], of.view.device());
        if of.extents().rank() == 0 {
            return Ok((View::none(device), View::none(device)));
        }
        let [a, b, c, d, e] = self.walk.shape;
        if strides[AXES - 1] == 0 && !self.walk.is_linear {
            let strides = [strides[0], strides[1], strides[2], strides[3]];
            let rows = of.view.as_strided([a, b, c, d], strides)?;
            let rows = rows.narrow(1, self.second.clone())?.narrow(2, self.third.clone())?;
            return Ok((View::none(device), rows.select(0, self.first)?));
        }
        let whole = of.view.as_strided([a, b, c, d, e], strides)?;
        let whole = whole.narrow(1, self.second.clone())?.narrow(2, self.third.clone())?;
        Ok((whole.select(0, self.first)?, View::none(device)))
    }

    /// The result.
    ///
    /// # Errors
    /// None that the result of a walk has.
    pub fn output<'a, T: Element>(&self, of: &'a mut ElementsMut<'_, T>) -> triton::Result<ViewMut<'a, T, 4>> {
        let whole = of.view.reborrow().as_strided(self.walk.shape, self.walk.y)?;
        whole.narrow(1, self.second.clone())?.narrow(2, self.third.clone())?.select(0, self.first)
    }

    /// Rows, and their elements.
    fn inner(&self) -> [usize; 2] {
        [self.walk.shape[AXES - 2], self.walk.shape[AXES - 1]]
    }

    /// The grid of tiles of these extents.
    pub(super) fn grid(&self, [rows, columns]: [i32; 2]) -> (usize, usize, usize) {
        (programs(self.inner(), rows, columns), self.third.len(), self.second.len())
    }

    /// The length of a row as a divisor: its number, and what divides by it.
    pub fn divisor(&self) -> (u32, u32) {
        let Divisor { magic, shift } = Divisor::new(self.inner()[1]);
        (magic, shift)
    }

    /// Enqueues the kernel of tiles.
    ///
    /// # Errors
    /// Those of a launch.
    pub fn tiles<const P: usize, C: Choice>(
        &self,
        call: Call<'_>,
        kernel: Tuned<'_, Safe, P, C>,
        tile: impl Fn(&C) -> [i32; 2],
    ) -> Result<()> {
        let inner = self.inner();
        // The last tile of a row may be mostly empty: where that is more than an eighth of the row, a tile has several rows.
        let is_tall = inner[0] > 1 && inner[1].next_multiple_of(LONG) > inner[1] + inner[1] / 8;
        call.tuned(kernel, |of| (tile(of)[0] > 1) == is_tall, |of| self.grid(tile(of)))
    }

    /// Enqueues the kernel of numbered elements, of which a program has `each`.
    ///
    /// # Errors
    /// Those of a launch, and [`Error::Unsupported`](crate::Error::Unsupported) of more elements than have numbers.
    pub fn linear<const P: usize>(&self, call: Call<'_>, kernel: Launch<'_, Safe, P>, each: usize) -> Result<()> {
        let [rows, columns] = self.inner();
        let Some(count) = rows.checked_mul(columns).filter(|count| *count <= MOST - each) else {
            return Err(Error::Unsupported {
                op: call.op,
                found: format!("a result of {rows} rows of {columns} elements"),
                expected: "less than 2³¹ elements in rows of fewer than 48",
                fix: "pass parts of it",
            });
        };
        call.launch(kernel, (count.div_ceil(each), self.third.len(), self.second.len()))
    }
}

/// What extents have to be.
const FIX: &str =
    "an operand has the extents of the result, or 1, and as many axes or fewer, of which the last ones are meant";
