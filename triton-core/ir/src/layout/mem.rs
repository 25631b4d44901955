//! Layouts of shared memory: at which offset an element lies.
//!
//! A [`Mem`] is the same kind of map as a [`Layout`](super::Layout), from the bits of an offset (counted in elements) to the
//! element there. It is square and invertible; the inverse, *element → offset*, is the address map that loads and stores
//! use. Swizzles are such maps: exclusive or is all that they do.
//!
//! Of a tile of several copies ([`Shape::copies`]) the map is that of the base tile, and one copy follows the other.

use super::linear;
use super::ops::{field, transposition};
use crate::types::Shape;

/// Bytes of a row that the hardware's swizzle permutes: chunks of 16 bytes within it are exchanged by the number of the
/// 128-byte line, so that a column of chunks touches all banks. (PTX ISA, "Swizzling modes".)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Swizzle {
    /// Rows of 32 bytes.
    B32,
    /// Rows of 64 bytes.
    B64,
    /// Rows of 128 bytes.
    B128,
}

impl Swizzle {
    /// Widest first.
    pub const ALL: [Swizzle; 3] = [Swizzle::B128, Swizzle::B64, Swizzle::B32];

    /// Bytes of a row.
    pub fn bytes(self) -> u32 {
        match self {
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 => 128,
        }
    }

    /// Alignment that memory of this pattern needs: the pattern is one of address bits, and repeats.
    pub fn align(self) -> u32 {
        self.bytes() * 8
    }

    /// The permuted byte offset.
    fn permute(self, byte: u32) -> u32 {
        byte ^ (byte >> 7 & (self.bytes() / 16 - 1)) << 4
    }
}

/// Where the elements of a tile lie in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mem {
    off: Vec<u32>,
    inv: Vec<u32>,
    bits: u32,
    parts: u32,
    copies: u32,
}

impl Mem {
    /// From the element that each offset bit stands for; `None` unless every element has one offset. `bits` of an element:
    /// 8, 16, 32 or 64.
    pub fn new(off: Vec<u32>, bits: u32) -> Option<Mem> {
        let inv = linear::invert(&off)?;
        // A column beyond the square would make offsets that no element has.
        let square = off.iter().all(|&c| u64::from(c) >> off.len() == 0);
        (square && matches!(bits, 8 | 16 | 32 | 64)).then_some(Mem { off, inv, bits, parts: 0, copies: 1 })
    }

    /// From the offset of each bit of an element.
    fn of_addresses(inv: Vec<u32>, bits: u32) -> Option<Mem> {
        Mem::new(linear::invert(&inv)?, bits)
    }

    /// The same for memory that holds one of `2^parts` parts of the tile at a time: the highest bits of an offset are
    /// not part of the address, but say in which part an element is. `None` if there are not that many bits.
    pub fn in_parts(self, parts: u32) -> Option<Mem> {
        (parts as usize <= self.off.len()).then_some(Mem { parts, ..self })
    }

    /// log2 of the parts of a copy.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The same for memory that holds this many copies of the base tile at a time, one after the other.
    pub fn with_copies(self, copies: u32) -> Mem {
        Mem { copies, ..self }
    }

    /// Copies of the base tile that it holds at a time.
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// Bytes from one copy to the next.
    pub fn copy_bytes(&self) -> u64 {
        u64::from(self.bits / 8) << self.address_bits()
    }

    /// How many parts a tile of this many copies is moved in: part `p` is part `p mod 2^parts` of the copies from
    /// `p / 2^parts · copies` on.
    pub fn parts_of(&self, copies: usize) -> u32 {
        (copies as u32).div_ceil(self.copies) << self.parts
    }

    /// The copies that are in memory together with those of this part, of a tile of this many.
    pub fn copies_of_part(&self, part: u32, copies: usize) -> std::ops::Range<usize> {
        let first = ((part >> self.parts) * self.copies) as usize;
        first..copies.min(first + self.copies as usize)
    }

    /// Whether it holds all of a tile of this many copies.
    pub fn is_whole(&self, copies: usize) -> bool {
        self.parts == 0 && self.copies as usize == copies
    }

    /// log2 of the elements of one part.
    pub fn address_bits(&self) -> usize {
        self.off.len() - self.parts as usize
    }

    /// The address of an element of the base tile, in elements, and the part in which it is there.
    pub fn offset_in_part(&self, element: u32) -> (u32, u32) {
        let offset = self.offset(element);
        (offset & ((1u64 << self.address_bits()) - 1) as u32, (u64::from(offset) >> self.address_bits()) as u32)
    }

    /// The same of an element of a copy.
    pub fn place(&self, copy: usize, element: u32) -> (u32, u32) {
        let ((offset, part), copy) = (self.offset_in_part(element), copy as u32);
        (offset + ((copy % self.copies) << self.address_bits()), part + ((copy / self.copies) << self.parts))
    }

    /// Row-major, without a swizzle.
    pub fn row_major(shape: Shape, bits: u32) -> Option<Mem> {
        let mem = Mem::new(linear::units(shape.base().elements().max(1).ilog2() as usize).collect(), bits)?;
        Some(mem.with_copies(shape.num_copies() as u32))
    }

    /// As bulk copies write it and `wgmma` reads it: along dimension `major` (one of the last two) panels of as many elements
    /// as a swizzled row has, each panel row by row, chunks exchanged by `swizzle`. Leading dimensions are outermost.
    ///
    /// `None` if there is no dimension `major`.
    pub fn swizzled(shape: Shape, bits: u32, swizzle: Swizzle, major: usize) -> Option<Mem> {
        let mem = Mem::of_addresses(swizzled_addresses(shape, bits, swizzle, major)?, bits)?;
        Some(mem.with_copies(shape.num_copies() as u32))
    }

    /// Whether it is [`Mem::swizzled`].
    pub fn is_swizzled(&self, shape: Shape, swizzle: Swizzle, major: usize) -> bool {
        self.is_whole(shape.num_copies())
            && swizzled_addresses(shape, self.bits, swizzle, major).is_some_and(|inv| inv == self.inv)
    }

    /// Of a matrix: along dimension `axis` one row after the other, and in a row the elements along the other dimension. Vectors of 16
    /// bytes of a row are exchanged by its number, so that elements along `axis` are in different banks, too, whether threads have
    /// neighbours or every fourth one. `None` if there is no dimension `axis`.
    pub fn rows_along(shape: Shape, bits: u32, axis: usize) -> Option<Mem> {
        if shape.rank() != 2 || axis > 1 {
            return None;
        }
        let ((first, rows), (inner, columns)) = (field(shape, axis)?, field(shape, 1 - axis)?);
        let vector = (16 * 8 / bits.max(8)).ilog2();
        let mut inv = vec![0; (rows + columns) as usize];
        (0..columns).for_each(|i| inv[(inner + i) as usize] = 1 << i);
        for i in 0..rows {
            // Lanes differ in the lowest three bits of the number, or in the three from bit 2 on where each has four rows: either three
            // are exchanged with different bits.
            let exchanged = vector + [0, 1, 2, 1][i as usize % 4];
            let exchanged = if exchanged < columns { 1 << exchanged } else { 0 };
            inv[(first + i) as usize] = 1 << (columns + i) | exchanged;
        }
        Some(Mem::of_addresses(inv, bits)?.with_copies(shape.num_copies() as u32))
    }

    /// The element of each offset bit.
    pub fn off(&self) -> &[u32] {
        &self.off
    }

    /// The offset, in elements, of each bit of an element: the address map.
    pub fn inv(&self) -> &[u32] {
        &self.inv
    }

    /// Bits of an element.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of the copies that it holds, or of one part of each.
    pub fn bytes(&self) -> u64 {
        self.copy_bytes() * u64::from(self.copies)
    }

    /// The alignment in bytes that a swizzle needs where the hardware takes the bits of an address for those of an offset; one element
    /// without a swizzle.
    pub fn align(&self) -> u64 {
        let swizzled = self.inv.iter().filter(|c| !c.is_power_of_two()).fold(0, |all, c| all | c);
        (u64::from(swizzled) + 1).next_power_of_two() * u64::from(self.bits / 8)
    }

    /// The offset of an element, in elements.
    pub fn offset(&self, element: u32) -> u32 {
        linear::apply(&self.inv, element)
    }

    /// The same memory seen as the transposed tile; see [`Layout::trans`](super::Layout::trans). `None` of a tile whose copies the
    /// transposition puts in another order.
    pub fn trans(&self, shape: Shape, perm: &[usize]) -> Option<Mem> {
        let permute = transposition(shape, perm)?;
        if shape.copies().dims().iter().filter(|&&digits| digits > 1).count() > 1 {
            return None;
        }
        let mem = Mem::new(self.off.iter().map(|&c| permute(c)).collect(), self.bits)?.in_parts(self.parts)?;
        Some(mem.with_copies(self.copies))
    }
}

/// The address of each bit of an element in [`Mem::swizzled`].
fn swizzled_addresses(shape: Shape, bits: u32, swizzle: Swizzle, major: usize) -> Option<Vec<u32>> {
    let (rank, bytes) = (shape.rank(), (bits / 8).max(1).ilog2());
    if major >= rank || major + 2 < rank {
        return None;
    }
    let mut inv = vec![0; shape.base().elements().max(1).ilog2() as usize];
    // One dimension alone is a single row.
    let minor = if rank == 1 { None } else { Some(2 * rank - 3 - major) };
    let (first, along) = field(shape, major)?;
    let (rows_first, rows) = minor.map_or(Some((0, 0)), |minor| field(shape, minor))?;
    let row = (swizzle.bytes().ilog2() - bytes).min(along);
    for i in 0..along {
        // What is beyond the row continues in the next panel.
        inv[(first + i) as usize] = 1 << if i < row { i } else { i + rows };
    }
    for i in 0..rows {
        inv[(rows_first + i) as usize] = 1 << (row + i);
    }
    let inner = (along + rows) as usize;
    for (i, column) in inv.iter_mut().enumerate().skip(inner) {
        *column = 1 << i;
    }
    Some(inv.into_iter().map(|c| swizzle.permute(c << bytes) >> bytes).collect())
}

impl std::fmt::Display for Mem {
    /// `off [1,2,4,8] bits 16`, by offset bit; ends in `parts 1` if there are two of them, and in `copies 3` if there are as many.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns: Vec<String> = self.off.iter().map(u32::to_string).collect();
        write!(f, "off [{}] bits {}", columns.join(","), self.bits)?;
        if self.parts > 0 {
            write!(f, " parts {}", self.parts)?;
        }
        if self.copies > 1 { write!(f, " copies {}", self.copies) } else { Ok(()) }
    }
}
