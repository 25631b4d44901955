//! Layouts for memory accesses and tensor cores.
//!
//! Each is made by a dispenser that hands out the bits of a tile, dimension by dimension ([`Bits::take`]): the first to
//! take gets the lowest. Bits that a tile does not have are columns of 0: those lanes and warps replicate.
//!
//! | layout | registers, fastest first | lanes | warps |
//! |---|---|---|---|
//! | coalesced | a vector along the fastest dimension; what is left at last | along the order | along their order |
//! | accumulator | 1 column; 8 rows; the other groups of 8 columns of a `wgmma`; N; M | 2, 4 columns; 1, 2, 4 rows | M, then N |
//! | operand A | a word of k; 8 rows; other half of k; K; M | next 2 bits of k; 1, 2, 4 rows | M; those along N replicate |
//! | operand B | a word of k; other half of k; K; N | next 2 bits of k; 1, 2, 4 of n | those along M replicate; N |
//!
//! Of a batch of matrices groups of warps have matrices of their own, and a thread those that are left, in its last registers.
//!
//! Fragments: PTX ISA, "Matrix fragments for mma" and "Register fragments for wgmma". One table serves all element widths,
//! as a word of k is 32 bits of neighbours along k: 4, 2 or 1 of them. (64-bit elements count as one.)

use super::Layout;
use super::ops::field;
use crate::types::Shape;

/// The tensor core instruction, as far as it decides fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// `mma.m16n8`: f16, bf16, tf32, 8-bit, and f64 of sm_90.
    M16N8,
    /// `mma.m8n8k4` of f64.
    M8N8,
    /// `wgmma.m64n…`: four warps along M, and all columns of one instruction before the next rows.
    Wgmma {
        /// Columns of one instruction; a multiple of 8 up to 256.
        n: u32,
    },
}

/// How a tile of a matrix product is divided among warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tiling {
    /// The instruction.
    pub atom: Atom,
    /// Warps along the rows of the accumulator, a power of two; a multiple of 4 for [`Atom::Wgmma`].
    pub warps_m: u32,
    /// Warps along its columns, a power of two.
    pub warps_n: u32,
    /// Groups of as many warps, each for other matrices of a batch, a power of two.
    pub groups: u32,
}

impl Tiling {
    /// Whether warpgroups have groups of eight columns in turn: where the columns are several copies of a base tile, halves of the base tile
    /// would not be as far apart as copies are.
    pub fn alternates(self, sum: Shape) -> bool {
        let copies = sum.copies().dims().last().copied().unwrap_or(1);
        matches!(self.atom, Atom::Wgmma { .. }) && self.warps_n > 1 && copies > 1
    }
}

/// Hands out the bits of a tile.
struct Bits {
    /// Next bit and end of each dimension.
    next: Vec<(u32, u32)>,
}

impl Bits {
    fn new(shape: Shape) -> Bits {
        let all = (0..shape.rank()).filter_map(|d| field(shape, d));
        Bits { next: all.map(|(first, bits)| (first, first + bits)).collect() }
    }

    fn left(&self, dim: usize) -> usize {
        self.next.get(dim).map_or(0, |&(next, end)| (end - next) as usize)
    }

    /// The next `count` bits of a dimension; columns of 0 when it has no more.
    fn take(&mut self, dim: usize, count: usize) -> impl Iterator<Item = u32> + use<> {
        let taken = count.min(self.left(dim)) as u32;
        let first = self.next.get_mut(dim).map_or(0, |(next, _)| {
            *next += taken;
            *next - taken
        });
        (0..count as u32).map(move |i| if i < taken { 1 << (first + i) } else { 0 })
    }

    /// All that is left of a dimension.
    fn rest(&mut self, dim: usize) -> impl Iterator<Item = u32> + use<> {
        self.take(dim, self.left(dim))
    }

    /// The next `count` bits along several dimensions in turn.
    fn along(&mut self, order: &[usize], count: usize) -> Vec<u32> {
        let mut columns = Vec::with_capacity(count);
        for &dim in order {
            let share = self.left(dim).min(count - columns.len());
            columns.extend(self.take(dim, share));
        }
        columns.resize(count, 0);
        columns
    }

    /// What groups of warps have of the axis of a batch.
    fn groups(&mut self, tiling: Tiling) -> Vec<u32> {
        let batch = self.next.len().checked_sub(3);
        batch.map_or(vec![0; log2(tiling.groups)], |axis| self.take(axis, log2(tiling.groups)).collect())
    }

    /// Registers without columns of 0, then all that is left of the last dimensions given, then of the others.
    fn registers(&mut self, first: impl IntoIterator<Item = u32>, order: &[usize]) -> Vec<u32> {
        let mut reg: Vec<u32> = first.into_iter().filter(|&c| c != 0).collect();
        for dim in order.iter().copied().chain((0..self.next.len()).rev()) {
            reg.extend(self.rest(dim));
        }
        reg
    }
}

/// log2 of a power of two; 0 of 0, so that no input panics.
fn log2(n: u32) -> usize {
    n.max(1).ilog2() as usize
}

fn lanes(first: impl IntoIterator<Item = u32>, then: impl IntoIterator<Item = u32>) -> [u32; 5] {
    let mut columns = first.into_iter().chain(then);
    std::array::from_fn(|_| columns.next().unwrap_or(0))
}

impl Layout {
    /// Consecutive elements first to the `vector` registers of a thread, then to lanes, then to warps; what remains
    /// goes to further registers. Lanes and warps that are left over replicate.
    ///
    /// `elements`, `vector` and `num_warps` are powers of two, and `vector` ≤ `elements`.
    pub fn coalesced(elements: u32, vector: u32, num_warps: u32) -> Layout {
        let mut bits = Bits { next: vec![(0, elements.trailing_zeros())] };
        let vector: Vec<u32> = bits.take(0, log2(vector)).collect();
        let lane = lanes(bits.take(0, 5), []);
        let warp = bits.take(0, log2(num_warps)).collect();
        Layout { reg: bits.registers(vector, &[0]), lane, warp }
    }

    /// Every warp has all elements, its lanes neighbouring ones.
    pub fn of_every_warp(elements: u32, warps: usize) -> Layout {
        Layout { warp: vec![0; warps], ..Layout::coalesced(elements, 1, 1) }
    }

    /// As [`Layout::coalesced`], for a tile whose dimensions follow one another in memory as `order` says, fastest first:
    /// `block` elements along the first two of them to each thread, lanes along `order`, warps along `warp_order`.
    ///
    /// Dimensions that an order leaves out get no lanes or warps.
    pub fn blocked(shape: Shape, order: &[usize], block: [u32; 2], num_warps: u32, warp_order: &[usize]) -> Layout {
        let mut bits = Bits::new(shape);
        let mut vector: Vec<u32> = Vec::new();
        for (&dimension, elements) in order.iter().zip(block) {
            vector.extend(bits.take(dimension, log2(elements).min(bits.left(dimension))));
        }
        let lane = lanes(bits.along(order, 5), []);
        let warp = bits.along(warp_order, log2(num_warps));
        Layout { reg: bits.registers(vector, order), lane, warp }
    }

    /// The accumulator `[.., M, N]` of a matrix product; `None` for a tile of fewer than two dimensions.
    pub fn mma_d(shape: Shape, tiling: Tiling) -> Option<Layout> {
        let (m, n) = (shape.rank().checked_sub(2)?, shape.rank() - 1);
        let mut bits = Bits::new(shape);
        let mut reg: Vec<u32> = bits.take(n, 1).collect();
        let lane = lanes(bits.take(n, 2), bits.take(m, 3));
        let mut of_columns = Vec::new();
        match tiling.atom {
            Atom::M8N8 => {}
            Atom::M16N8 => reg.extend(bits.take(m, 1)),
            Atom::Wgmma { n: columns } => {
                reg.extend(bits.take(m, 1));
                if tiling.alternates(shape) {
                    of_columns.extend(bits.take(n, log2(tiling.warps_n)));
                }
                // Of those of the base tile: copies follow.
                reg.extend(bits.take(n, log2(columns / 8)));
            }
        }
        let mut warp: Vec<u32> = bits.take(m, log2(tiling.warps_m)).collect();
        if of_columns.is_empty() {
            of_columns.extend(bits.take(n, log2(tiling.warps_n)));
        }
        warp.extend(of_columns);
        warp.extend(bits.groups(tiling));
        Some(Layout { reg: bits.registers(reg, &[n, m]), lane, warp })
    }

    /// The operand A, `[.., M, K]` of elements of `bits` bits, in registers; `None` for a tile of fewer than two dimensions.
    pub fn mma_a(shape: Shape, bits: u32, tiling: Tiling) -> Option<Layout> {
        let (m, k) = (shape.rank().checked_sub(2)?, shape.rank() - 1);
        let (mut left, mut reg) = (Bits::new(shape), Vec::new());
        reg.extend(left.take(k, log2(32 / bits.max(1))));
        let lane = lanes(left.take(k, 2), left.take(m, 3));
        match tiling.atom {
            Atom::M8N8 => {}
            Atom::M16N8 | Atom::Wgmma { .. } => reg.extend(left.take(m, 1).chain(left.take(k, 1))),
        }
        let idle = std::iter::repeat_n(0, log2(tiling.warps_n));
        let mut warp: Vec<u32> = left.take(m, log2(tiling.warps_m)).chain(idle).collect();
        warp.extend(left.groups(tiling));
        Some(Layout { reg: left.registers(reg, &[k, m]), lane, warp })
    }

    /// The operand B, `[.., K, N]` of elements of `bits` bits, in registers; `None` for a tile of fewer than two dimensions.
    pub fn mma_b(shape: Shape, bits: u32, tiling: Tiling) -> Option<Layout> {
        let (k, n) = (shape.rank().checked_sub(2)?, shape.rank() - 1);
        let (mut left, mut reg) = (Bits::new(shape), Vec::new());
        reg.extend(left.take(k, log2(32 / bits.max(1))));
        let lane = lanes(left.take(k, 2), left.take(n, 3));
        match tiling.atom {
            Atom::M8N8 => {}
            Atom::M16N8 | Atom::Wgmma { .. } => reg.extend(left.take(k, 1)),
        }
        let idle = std::iter::repeat_n(0, log2(tiling.warps_m));
        let mut warp: Vec<u32> = idle.chain(left.take(n, log2(tiling.warps_n))).collect();
        warp.extend(left.groups(tiling));
        Some(Layout { reg: left.registers(reg, &[k, n]), lane, warp })
    }
}
