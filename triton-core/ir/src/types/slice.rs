//! Slices of a tile along an axis: of an aligned run of indices, all elements.

use super::Shape;

/// The elements of a tile whose indices along an axis are from `start` up to before `start + extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    shape: Shape,
    /// Bits of an element's number below those of the axis, and those of the axis in the slice and in the tile.
    below: u32,
    kept: u32,
    all: u32,
    start: u32,
}

impl Slice {
    /// A slice of a tile of shape `whole`; `None` unless it is inside, its extent and that of the tile are powers of two, and it starts at a
    /// multiple of its extent. Along other axes the tile may have several copies of a base tile: each has its slice.
    pub fn new(whole: Shape, axis: usize, start: u32, extent: u32) -> Option<Slice> {
        let bits = |dims: &[u32]| dims.iter().map(|extent| extent.trailing_zeros()).sum();
        let (below, all) = (bits(whole.dims().get(axis + 1..)?), whole.dims()[axis].trailing_zeros());
        let aligned = extent.is_power_of_two() && start.is_multiple_of(extent) && whole.dims()[axis].is_power_of_two();
        let mut dims = whole.dims().to_vec();
        if !aligned || start >= dims[axis] || extent > dims[axis] {
            return None;
        }
        dims[axis] = extent;
        Some(Slice { shape: Shape::new(&dims)?, below, kept: extent.ilog2(), all, start })
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The element of the tile that is the slice's first one.
    pub fn first(&self) -> u32 {
        self.start << self.below
    }

    /// Where each bit of the number of one of its elements is in that of the tile, as if the slice started at 0: its elements are
    /// [`Slice::first`] further, by xor.
    pub fn columns(&self) -> Vec<u32> {
        let bits = (0..self.below + self.kept).chain(self.below + self.all..u32::BITS);
        bits.map(|bit| 1 << bit).collect()
    }

    /// The element of the slice that an element of the tile is.
    pub fn element(&self, of_tile: u32) -> u32 {
        let low = |bits: u32| (1u64 << bits) - 1;
        let of_tile = u64::from(of_tile);
        let above = of_tile >> (self.below + self.all) << (self.below + self.kept);
        (of_tile & low(self.below + self.kept) | above) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements() {
        let whole = Shape::new(&[4, 8, 2]).expect("a shape");
        assert_eq!([Slice::new(whole, 1, 2, 4), Slice::new(whole, 1, 8, 4), Slice::new(whole, 3, 0, 1)], [None; 3]);
        let slice = Slice::new(whole, 1, 4, 2).expect("a slice");
        assert_eq!((slice.shape().dims(), slice.first()), (&[4, 2, 2][..], 8));
        assert_eq!(slice.columns()[..4], [1, 2, 16, 32]);
        for (i, j, k) in (0..16).map(|n| (n >> 2, n >> 1 & 1, n & 1)) {
            let (of_slice, of_tile) = (i * 4 + j * 2 + k, i * 16 + (4 + j) * 2 + k);
            assert_eq!(slice.element(of_tile), of_slice);
        }
    }
}
