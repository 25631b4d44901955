//! Shapes of tiles: extents, and what they are made of.

use std::fmt;

/// Most dimensions a tile can have.
pub const MAX_RANK: usize = 5;

/// Most elements a tile can have.
pub const MAX_TILE: u64 = 1 << 20;

/// The largest odd factor of an extent.
pub const MAX_ODD: u32 = 31;

/// Extents of a tile, outermost first. A scalar has none.
///
/// An extent is a power of two, or an odd *digit* times one. The power-of-two parts make the *base* tile, of which the tile is a number of
/// *copies*, one for each combination of digits: an index is `digit · base extent + index in the base tile`.
///
/// | | `[128, 192]` | `[5120]` | `[128, 256]` |
/// |---|---|---|---|
/// | [`dims`](Shape::dims) | `[128, 192]` | `[5120]` | `[128, 256]` |
/// | [`base`](Shape::base) | `[128, 64]` | `[1024]` | `[128, 256]` |
/// | [`copies`](Shape::copies) | `[1, 3]` | `[5]` | `[1, 1]` |
///
/// Layouts, conversions and memory are of the base tile. Digits lie in registers, or in panels of memory, one copy after the other: never in
/// lanes or warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Shape {
    rank: u8,
    dims: [u32; MAX_RANK],
}

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape { rank: 0, dims: [0; MAX_RANK] };

    /// A shape of these extents, if there are at most [`MAX_RANK`].
    pub fn new(dims: &[u32]) -> Option<Shape> {
        let mut all = [0; MAX_RANK];
        all.get_mut(..dims.len())?.copy_from_slice(dims);
        Some(Shape { rank: dims.len() as u8, dims: all })
    }

    /// Reads `[4,8]`.
    pub(crate) fn parse(text: &str) -> Option<Shape> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let dims: Option<Vec<u32>> = inner.split(',').map(|d| d.parse().ok()).collect();
        Shape::new(&dims?)
    }

    /// The extents.
    pub fn dims(&self) -> &[u32] {
        &self.dims[..self.rank as usize]
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank as usize
    }

    /// Number of elements; 1 for a scalar.
    pub fn elements(&self) -> u64 {
        self.dims().iter().map(|&d| u64::from(d)).product()
    }

    fn map(self, f: impl Fn(u32) -> u32) -> Shape {
        let mut shape = self;
        shape.dims[..self.rank()].iter_mut().for_each(|d| *d = f(*d));
        shape
    }

    /// The power-of-two part of every extent.
    pub fn base(self) -> Shape {
        self.map(|d| d & d.wrapping_neg())
    }

    /// The odd part of every extent.
    pub fn copies(self) -> Shape {
        self.map(|d| d >> d.trailing_zeros().min(31))
    }

    /// How many copies of the base tile it is.
    pub fn num_copies(self) -> usize {
        self.copies().elements() as usize
    }

    /// The index of the first element of a copy along an axis.
    pub fn origin(self, copy: usize, axis: usize) -> u32 {
        let copies = self.copies();
        let after: usize = copies.dims()[axis + 1..].iter().map(|&digits| digits as usize).product();
        (copy / after % copies.dims()[axis] as usize) as u32 * self.base().dims()[axis]
    }

    /// The smallest extent of at least this many indices that a tile can have: the next number that is a power of two times an odd number of
    /// at most [`MAX_ODD`]. `None` beyond [`MAX_TILE`].
    pub fn next_extent(least: u32) -> Option<u32> {
        let unit = (least.max(1) / (MAX_ODD + 1) + 1).checked_next_power_of_two()?;
        let next =
            [unit / 2, unit].into_iter().filter(|&unit| unit > 0).map(|unit| least.max(1).next_multiple_of(unit));
        next.filter(|&extent| extent >> extent.trailing_zeros() <= MAX_ODD && u64::from(extent) <= MAX_TILE).min()
    }

    /// The row-major index of an element of a copy, which has this row-major index in the base tile.
    pub fn index(self, copy: usize, element: u32) -> u64 {
        let (mut rest, mut index, mut stride) = (element, 0, 1);
        for (axis, &extent) in self.base().dims().iter().enumerate().rev() {
            index += u64::from(self.origin(copy, axis) + rest % extent) * stride;
            rest /= extent;
            stride *= u64::from(self.dims()[axis]);
        }
        index
    }

    /// Whether a reshape to another shape of as many elements keeps every element in its copy, at its place in the base tile.
    pub fn has_digits_of(self, other: Shape) -> bool {
        let digits = |shape: Shape| {
            let mut stride = 1;
            let mut found = Vec::new();
            for (&base, &digits) in shape.base().dims().iter().zip(shape.copies().dims()).rev() {
                stride *= u64::from(base);
                if digits > 1 {
                    found.push((stride, digits));
                }
                stride *= u64::from(digits);
            }
            found
        };
        digits(self) == digits(other)
    }

    /// Axis `i` of the result is axis `order[i]` of this shape; `None` if `order` does not name every axis once.
    pub fn permute(self, order: Shape) -> Option<Shape> {
        let mut dims = Vec::new();
        for axis in 0..self.rank() as u32 {
            if !order.dims().contains(&axis) || order.rank() != self.rank() {
                return None;
            }
            dims.push(*self.dims().get(order.dims()[axis as usize] as usize)?);
        }
        Shape::new(&dims)
    }

    /// The extents of the last two axes, and how many such matrices the others number: 1 where there are none. `None` of fewer than
    /// two axes.
    pub fn matrices(self) -> Option<(u32, [u32; 2])> {
        let (batch, &matrix) = self.dims().split_last_chunk::<2>()?;
        Some((batch.iter().product(), matrix))
    }

    /// The last two axes, if all others have extent 1; `None` of fewer than two axes.
    pub fn as_matrix(self) -> Option<Shape> {
        let (batch, matrix) = self.matrices()?;
        if batch == 1 { Shape::new(&matrix) } else { None }
    }

    /// Without one axis.
    pub fn without(self, axis: usize) -> Option<Shape> {
        let mut dims = self.dims().to_vec();
        if axis >= dims.len() {
            return None;
        }
        dims.remove(axis);
        Shape::new(&dims)
    }

    /// For an index into this shape: its row-major index after [`permute`](Shape::permute), the order being of this shape's
    /// rank.
    pub fn permute_index(self, order: Shape, flat: u64) -> u64 {
        let (mut rest, mut coordinates) = (flat, [0u64; MAX_RANK]);
        for (axis, &extent) in self.dims().iter().enumerate().rev() {
            coordinates[axis] = rest % u64::from(extent);
            rest /= u64::from(extent);
        }
        order
            .dims()
            .iter()
            .fold(0, |index, &axis| index * u64::from(self.dims()[axis as usize]) + coordinates[axis as usize])
    }

    /// NumPy's rule: pad the shorter shape with ones on the left, then every pair of extents is equal or one of them is 1.
    pub fn broadcast(a: Shape, b: Shape) -> Option<Shape> {
        let rank = a.rank().max(b.rank());
        let mut dims = [0; MAX_RANK];
        for (i, dim) in dims[..rank].iter_mut().enumerate() {
            let of = |s: &Shape| (i + s.rank()).checked_sub(rank).map_or(1, |j| s.dims()[j]);
            *dim = match (of(&a), of(&b)) {
                (x, y) if x == y => x,
                (1, y) => y,
                (x, 1) => x,
                _ => return None,
            };
        }
        Shape::new(&dims[..rank])
    }

    /// Whether a value of this shape can be broadcast to `to`.
    pub fn broadcasts_to(self, to: Shape) -> bool {
        Shape::broadcast(self, to) == Some(to)
    }

    /// For each element of `to`, the row-major index of the element of `self` that is replicated there.
    pub fn broadcast_index(self, to: Shape, flat: u64) -> u64 {
        let (mut rest, mut index, mut stride) = (flat, 0, 1);
        for (i, &extent) in to.dims().iter().enumerate().rev() {
            let coordinate = rest % u64::from(extent);
            rest /= u64::from(extent);
            if let Some(j) = (i + self.rank()).checked_sub(to.rank()) {
                let own = u64::from(self.dims()[j]);
                index += if own == 1 { 0 } else { coordinate * stride };
                stride *= own;
            }
        }
        index
    }
}

impl fmt::Display for Shape {
    /// `[4,8]`, and nothing for a scalar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rank == 0 {
            return Ok(());
        }
        let dims: Vec<String> = self.dims().iter().map(u32::to_string).collect();
        write!(f, "[{}]", dims.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[u32]) -> Shape {
        Shape::new(dims).expect("a shape")
    }

    #[test]
    fn copies() {
        let tile = shape(&[12, 2, 40]);
        assert_eq!((tile.base().dims(), tile.copies().dims()), (&[4, 2, 8][..], &[3, 1, 5][..]));
        // Every element is in one copy.
        let elements = tile.base().elements() as u32;
        let mut found: Vec<u64> =
            (0..tile.num_copies()).flat_map(|copy| (0..elements).map(move |e| tile.index(copy, e))).collect();
        assert_eq!(found[..9], [0, 1, 2, 3, 4, 5, 6, 7, 40]);
        assert_eq!((tile.origin(7, 0), tile.origin(7, 1), tile.origin(7, 2)), (4, 0, 16));
        assert_eq!(tile.index(7, 0), 4 * 80 + 16);
        found.sort_unstable();
        assert!(found.into_iter().eq(0..tile.elements()));
        assert_eq!((Shape::SCALAR.base(), Shape::SCALAR.num_copies()), (Shape::SCALAR, 1));
    }

    #[test]
    fn extents() {
        let fits = |extent: &u32| extent >> extent.trailing_zeros() <= MAX_ODD;
        for least in 0..3000 {
            assert_eq!(Shape::next_extent(least), (least.max(1)..).find(fits), "{least}");
        }
        assert_eq!((Shape::next_extent(1 << 20), Shape::next_extent((1 << 20) + 1)), (Some(1 << 20), None));
    }

    #[test]
    fn reshapes() {
        assert!(shape(&[96]).has_digits_of(shape(&[1, 24, 4])));
        assert!(shape(&[2, 96]).has_digits_of(shape(&[2, 12, 8])));
        assert!(!shape(&[2, 96]).has_digits_of(shape(&[192])));
        assert!(!shape(&[96, 2]).has_digits_of(shape(&[2, 96])));
    }
}
