//! Layouts: which register of which thread holds which element of a tile, as a linear map over bits.
//!
//! # The idea
//! Number the elements of a tile row-major. Extents are powers of two, so an element is a string of bits; of other tiles a layout is that
//! of the base tile, of which a thread holds one copy after the other ([`Shape`](crate::types::Shape)). A position is one, too: register, lane, warp. A [`Layout`] gives for every bit of the position a *column*, the element that this
//! bit alone stands for; the element of any other position is the exclusive or of the columns of its set bits. (Linear
//! layouts over GF(2): Zhou et al., "Linear Layouts", arXiv 2505.23819; here with one integer for the element instead
//! of labelled dimensions.)
//!
//! A tile of 16 elements over two warps of (for once) four lanes:
//!
//! | | columns | read as |
//! |---|---|---|
//! | register | `[1]` | the two registers of a thread are neighbours |
//! | lane | `[2, 4]` | lanes continue where registers end |
//! | warp | `[8]` | the second warp has the second half |
//!
//! Register 1 of lane 3 in warp 1 holds element 1 ⊕ 2 ⊕ 4 ⊕ 8 = 15. A column 0 is replication: positions that differ in
//! that bit alone hold the same element. Nothing here knows dimensions: reshaping a row-major tile does not move a
//! column.
//!
//! # A fragment
//! A tensor core's layout looks arbitrary as prose: the accumulator of `mma.m16n8` is a tile `[16, 8]` of which value
//! `i` of lane `4g + t` is row `g + 8·(i >> 1)`, column `2t + (i & 1)`. With element = 8 · row + column it is one more
//! table:
//!
//! | | columns | read as |
//! |---|---|---|
//! | register | `[1, 64]` | next column; eight rows down |
//! | lane | `[2, 4, 8, 16, 32]` | `t` steps over pairs of columns, `g` over rows |
//! | warp | `[]` | one warp |
//!
//! Its transposed tile `[8, 16]` exchanges the two fields of every column ([`Layout::trans`]); the sum of each row forgets the
//! lower field ([`Layout::slice_axis`]): register `[8]`, lane `[0, 0, 1, 2, 4]`, so the four lanes of a row hold the same sum.
//! Every question about layouts is linear algebra on such columns ([`linear`]):
//!
//! | question | answer | file |
//! |---|---|---|
//! | what do shape operations do? | edit columns; no data moves | `ops` |
//! | which layouts do the hardware and memory want? | a few lists of columns | `make` |
//! | where is an element in shared memory? | one more, square matrix, a [`Mem`] | `mem` |
//! | how does a tile get from one layout to another? | solve for the gather map ([`gather`]) | `gather`, `convert`, `shuffle`, `shared` |
//! | does `ldmatrix` load this? without bank conflicts? | divide; compare two ranks ([`access`]) | `access`, `hopper` |
//!
//! **Invariant:** the columns of the registers are independent (a thread holds an element once; [`Layout::dedup`]), and every
//! element has a position.

pub mod access;
pub mod convert;
pub mod cost;
pub mod estimate;
mod execute;
pub mod gather;
pub mod hopper;
pub mod linear;
mod make;
mod mem;
mod ops;
pub mod products;
pub mod shared;
pub mod shuffle;

pub use make::{Atom, Tiling};
pub use mem::{Mem, Swizzle};

use linear::Basis;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// A map from positions (register, lane, warp) to elements of a tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Layout {
    /// Column of each register bit, fastest first.
    pub reg: Vec<u32>,
    /// Column of each of the five lane bits.
    pub lane: [u32; 5],
    /// Column of each warp bit.
    pub warp: Vec<u32>,
}

impl Layout {
    /// Registers a thread needs for one tile.
    pub fn registers(&self) -> usize {
        1 << self.reg.len()
    }

    /// The copy of the base tile that a register of a tile of several belongs to, and its number there.
    pub fn copy_of(&self, register: usize) -> (usize, usize) {
        (register / self.registers(), register % self.registers())
    }

    /// The element that register `register` holds in lane 0 of warp 0; lanes and warps xor their own on top.
    pub fn register_element(&self, register: usize) -> u32 {
        linear::apply(&self.reg, register as u64)
    }

    /// The element at a position.
    pub fn element(&self, register: usize, lane: usize, warp: usize) -> u32 {
        let thread = linear::apply(&self.lane, lane as u64) ^ linear::apply(&self.warp, warp as u64);
        self.register_element(register) ^ thread
    }

    /// All columns: registers, lanes, warps.
    pub fn columns(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.reg.iter().chain(&self.lane).chain(&self.warp).copied()
    }

    /// Bits of an element that columns reach: log2 of the elements, if every element has a position.
    pub fn bits(&self) -> usize {
        (32 - self.columns().fold(0, |all, c| all | c).leading_zeros()) as usize
    }

    /// Consecutive elements that consecutive registers hold, aligned in every thread: how wide one access can be.
    pub fn vector(&self) -> u32 {
        self.vector_along(0)
    }

    /// As [`Layout::vector`], along the dimension whose bits of the element begin at `first`: for memory in which another
    /// dimension than the last is contiguous.
    pub fn vector_along(&self, first: u32) -> u32 {
        let unit = |i: usize| 1u32.checked_shl(first + i as u32).unwrap_or(0);
        let run = self.reg.iter().enumerate().take_while(|&(i, &column)| column == unit(i)).count();
        let others = self.reg[run..].iter().chain(&self.lane).chain(&self.warp);
        // The run counts only as far as no other bit disturbs its low bits.
        others.fold(1 << run, |width, &c| match c.checked_shr(first) {
            None | Some(0) => width,
            Some(field) => width.min(1 << field.trailing_zeros()),
        })
    }

    /// Bits of lane and of warp that give no further elements, each as a mask: the threads in which all these bits are 0 hold
    /// every element once. Stores and atomics are for those threads only. (Columns of 0, and those that others add up to.)
    pub fn replicated(&self) -> (u32, u32) {
        let mut basis = Basis::of(self.reg.iter().copied());
        let mut idle = |columns: &[u32]| {
            let bits = columns.iter().enumerate().filter(|&(_, &c)| !basis.add(c));
            bits.fold(0, |mask, (i, _)| mask | 1 << i)
        };
        (idle(&self.lane), idle(&self.warp))
    }

    /// The same layout with another function of every column.
    pub(crate) fn map(&self, f: impl Fn(u32) -> u32) -> Layout {
        let all = |columns: &[u32]| columns.iter().map(|&c| f(c)).collect();
        Layout { reg: all(&self.reg), lane: self.lane.map(&f), warp: all(&self.warp) }
    }
}

impl std::fmt::Display for Layout {
    /// `reg [1] lane [2,4,8,16,32] warp [64,128]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |columns: &[u32]| columns.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        write!(f, "reg [{}] lane [{}] warp [{}]", list(&self.reg), list(&self.lane), list(&self.warp))
    }
}
