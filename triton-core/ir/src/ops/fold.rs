//! Operations that combine the elements along an axis: what each kind combines, in which order, and its types.

use super::field::{Field, Reader};
use super::infer::list;
use crate::types::{Class, Shape, Type};
use std::fmt::Write;

super::kinds::kinds! {
    /// What is combined, and what is yielded of it.
    FoldKind {
        /// One element is left: the elements are combined in pairs whose index differs in one bit, the one with the bit clear first.
        /// The combination must be associative and commutative (but for rounding). The axis disappears if all of its bits
        /// are reduced; otherwise the others are what is left of the index. Where the axis has a digit ([`Shape`]), its values are
        /// combined first, upwards: the bits are those of an index in the base tile.
        Reduce = "reduce" on Bool | Signed | Unsigned | Float;
        /// Every element is left, combined with all before it: an inclusive scan. For each bit of the order, lowest first, every
        /// element whose index has the bit set is combined with, before it, the one whose index has the bit clear, all bits
        /// below set, and the others alike (Sklansky, "Conditional-Sum Addition Logic", 1960). So the order is the same in
        /// all layouts. The combination must be associative; it need not be commutative. [`Part`] says what the orders of
        /// parts of the bits mean.
        Scan = "scan" on Bool | Signed | Unsigned | Float;
        /// The same from the end: index `i` of `n` counts as `n - 1 - i`, so that each element is combined with all after it.
        ScanReverse = "scan_reverse" on Bool | Signed | Unsigned | Float;
    }
}

impl FoldKind {
    /// What messages call it.
    pub fn noun(self) -> &'static str {
        match self {
            FoldKind::Reduce => "reduction",
            FoldKind::Scan | FoldKind::ScanReverse => "scan",
        }
    }

    /// The order, where none is written, if this one suits the layout best.
    pub fn order(self, of_layout: BitOrder) -> BitOrder {
        match self {
            FoldKind::Reduce => of_layout,
            // As many bits, upwards.
            FoldKind::Scan | FoldKind::ScanReverse => {
                let mut bits = of_layout.bits(0);
                bits.sort_unstable();
                BitOrder::new(&bits).unwrap_or(of_layout)
            }
        }
    }

    /// The types of the elements that are combined, and those of the results, of arguments of these types; or why they do
    /// not fit.
    pub(super) fn infer(self, axis: i32, order: BitOrder, args: &[Type]) -> Result<(Vec<Type>, Vec<Type>), String> {
        let shape = args.first().map_or(Shape::SCALAR, |t| t.shape);
        let known = usize::try_from(axis).ok().filter(|&axis| axis < shape.rank());
        let part = known.and_then(|axis| self.part(order, shape.dims()[axis]));
        // Those after the tiles are totals.
        let tiles = if let Some(Part::Across(_)) = part { args.len() / 2 } else { args.len() };
        let (tiles, totals) = args.split_at(tiles);
        let Some(axis) = known.filter(|_| tiles.iter().all(|t| t.shape == shape)) else {
            return Err(format!("a {} of {} along axis {axis}", self.noun(), list(args)));
        };
        let reduced = order.fold(shape, axis).ok_or_else(|| {
            format!("an order of bits that {shape} does not have along axis {axis}, or that names one twice")
        })?;
        let elements = tiles.iter().map(|t| t.with_shape(Shape::SCALAR)).collect();
        let with = |shape: Shape| tiles.iter().map(|t| t.with_shape(shape)).collect::<Vec<Type>>();
        match (self, part) {
            (FoldKind::Reduce, _) => Ok((elements, with(reduced))),
            (FoldKind::Scan | FoldKind::ScanReverse, _) if shape.copies().dims()[axis] > 1 => {
                Err(format!("a scan along axis {axis} of {shape}, whose extent is not a power of two"))
            }
            (FoldKind::Scan | FoldKind::ScanReverse, None) => {
                Err(format!("a scan of no part of axis {axis} of {shape}"))
            }
            (FoldKind::Scan | FoldKind::ScanReverse, Some(Part::All)) => Ok((elements, with(shape))),
            (FoldKind::Scan | FoldKind::ScanReverse, Some(Part::Within(_))) => {
                Ok((elements, [with(shape), with(reduced)].concat()))
            }
            (FoldKind::Scan | FoldKind::ScanReverse, Some(Part::Across(block))) => {
                let mut dims = shape.dims().to_vec();
                dims[axis] >>= block;
                let expected = with(Shape::new(&dims).unwrap_or(shape));
                if totals != expected {
                    return Err(format!("totals {} where {} are needed", list(totals), list(&expected)));
                }
                Ok((elements, with(shape)))
            }
        }
    }

    /// Whether it begins at the end.
    pub fn is_reverse(self) -> bool {
        self == FoldKind::ScanReverse
    }

    /// The part of a scan that this order is, of an axis of this extent; `None` of other kinds, and if it is none.
    pub fn part(self, order: BitOrder, extent: u32) -> Option<Part> {
        match self {
            FoldKind::Reduce => return None,
            FoldKind::Scan | FoldKind::ScanReverse => {}
        }
        let (count, bits) = (extent.trailing_zeros(), order.bits(extent.trailing_zeros()));
        let first = bits.first().map_or(0, |&first| u32::from(first));
        if !bits.iter().map(|&bit| u32::from(bit)).eq(first..first + bits.len() as u32) {
            return None;
        }
        match (first, first + bits.len() as u32) {
            (0, end) if end == count => Some(Part::All),
            (0, end) if 0 < end && end < count => Some(Part::Within(end)),
            (first, end) if 0 < first && end == count => Some(Part::Across(first)),
            _ => None,
        }
    }
}

/// A part of a scan, by its bits of an index: `passes::layouts::split` divides one in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All bits: the whole.
    All,
    /// This many, from the lowest on: within blocks of `1 << n` elements. It yields the tiles, and then the total of each block, of every
    /// tile: what is left of the index is the block's.
    Within(u32),
    /// The bits from this one on: blocks of `1 << n` elements are combined with those before them. It is given the tiles, and then the
    /// totals, and yields the tiles.
    Across(u32),
}

/// The order in which the bits of an index are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOrder {
    /// Not decided yet: stage 0.
    Any,
    /// Bit `i` of the order is the `i`th entry; as many as the extent has bits, at most 20.
    Bits([u8; 20], u8),
}

impl BitOrder {
    /// The order of these bits; `None` for more than 20.
    pub fn new(bits: &[u8]) -> Option<BitOrder> {
        let mut all = [0; 20];
        all.get_mut(..bits.len())?.copy_from_slice(bits);
        Some(BitOrder::Bits(all, bits.len() as u8))
    }

    /// What is left of `axis` of a shape: its extent without the digit and the bits that are reduced, or nothing. `None` if the
    /// order names a bit that the extent does not have, or one twice.
    pub fn fold(&self, shape: Shape, axis: usize) -> Option<Shape> {
        let base = *shape.base().dims().get(axis)?;
        let count = base.trailing_zeros();
        let (bits, mask) = (self.bits(count), self.mask(count));
        if mask.count_ones() as usize != bits.len() || mask >> count != 0 {
            return None;
        }
        if bits.len() as u32 == count {
            return shape.without(axis);
        }
        let mut dims = shape.dims().to_vec();
        dims[axis] = base >> bits.len();
        Shape::new(&dims)
    }

    /// The bits for an extent of `1 << count`; lowest first where the order is undecided.
    pub fn bits(&self, count: u32) -> Vec<u8> {
        match self {
            BitOrder::Any => (0..count as u8).collect(),
            BitOrder::Bits(bits, len) => bits[..*len as usize].to_vec(),
        }
    }

    /// The same as a mask.
    pub fn mask(&self, count: u32) -> u32 {
        self.bits(count).iter().fold(0, |mask, &bit| mask | 1u32.checked_shl(bit.into()).unwrap_or(0))
    }
}

impl Field for BitOrder {
    fn print(&self, out: &mut String) {
        match self {
            BitOrder::Any => out.push_str("any"),
            BitOrder::Bits(bits, len) => {
                let list: Vec<String> = bits[..*len as usize].iter().map(u8::to_string).collect();
                let _ = write!(out, "[{}]", list.join(","));
            }
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        if word == "any" {
            return Ok(BitOrder::Any);
        }
        let inner = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
        let bits: Option<Vec<u8>> =
            inner.and_then(|list| list.split(',').filter(|b| !b.is_empty()).map(|b| b.parse().ok()).collect());
        bits.and_then(|bits| BitOrder::new(&bits)).ok_or_else(|| format!("`{word}` is not an order of bits"))
    }
}
