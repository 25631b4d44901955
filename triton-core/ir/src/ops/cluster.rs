//! What the blocks of a cluster tell one another: the shapes, and which element goes where.

use crate::types::Shape;

/// An exchange of tiles between the blocks of a cluster. Each block sends a *part* to each of them: its tile, or, where an axis of it is
/// divided among the blocks, the part of the receiver. What a block receives has a new axis, along which block `i`'s part has index `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Blocks of the cluster.
    pub blocks: u32,
    /// Elements of what is received within one index of the new axis.
    inner: u32,
    /// Whether blocks receive different parts.
    divided: bool,
}

impl Exchange {
    /// The most blocks of a cluster. Beyond 8 a device must allow it.
    pub const MOST_BLOCKS: u32 = 16;

    /// That of a tile of a shape, whose result has this one, with the new axis; `None` if there is none.
    pub fn of(tile: Shape, result: Shape, axis: u32) -> Option<Exchange> {
        let blocks = *result.dims().get(axis as usize)?;
        let inner = result.dims()[axis as usize + 1..].iter().product();
        let divided = scattered(tile, axis, blocks) == Some(result);
        (divided || gathered(tile, axis, blocks) == Some(result)).then_some(Exchange { blocks, inner, divided })
    }

    /// The element of a part that an element of a tile is, and the block that alone receives it; `None` if all do.
    pub fn part(&self, element: u32) -> (u32, Option<u32>) {
        if !self.divided {
            return (element, None);
        }
        let (outer, within) = (element / self.inner, element % self.inner);
        (outer / self.blocks * self.inner + within, Some(outer % self.blocks))
    }

    /// The element of what is received that an element of a block's part is.
    pub fn received(&self, element: u32, from: u32) -> u32 {
        let (outer, within) = (element / self.inner, element % self.inner);
        (outer * self.blocks + from) * self.inner + within
    }

    /// The element of a part that an element of what is received is, and the block that sent it.
    pub fn sent(&self, element: u32) -> (u32, u32) {
        let (outer, within) = (element / self.inner, element % self.inner);
        (outer / self.blocks * self.inner + within, outer % self.blocks)
    }

    /// The bits of an element of the tile that say which block receives it.
    pub fn receiver_bits(&self) -> u32 {
        if self.divided { (self.blocks - 1) * self.inner } else { 0 }
    }
}

/// The shape of what blocks of a cluster have for a tile of this one, along a new axis; `None` of a tile of several copies of a base tile.
pub fn gathered(shape: Shape, axis: u32, blocks: u32) -> Option<Shape> {
    let (before, after) = shape.dims().split_at_checked(axis as usize)?;
    Shape::new(&[before, &[blocks], after].concat()).filter(|_| blocks > 1 && shape.num_copies() == 1)
}

/// The shape of what blocks of a cluster have for a block's part of such a tile along an axis, along a new axis before it.
pub fn scattered(shape: Shape, axis: u32, blocks: u32) -> Option<Shape> {
    let mut parts = shape.dims().to_vec();
    let extent = parts.get_mut(axis as usize)?;
    let divides = blocks > 1 && extent.is_multiple_of(blocks);
    *extent = extent.checked_div(blocks)?;
    gathered(Shape::new(&parts)?, axis, blocks).filter(|_| divides)
}
