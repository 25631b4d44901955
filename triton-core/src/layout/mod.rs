//! Layouts: which register of which thread holds which element of a tile, as a linear map over bits.
//!
//! # The idea
//! Number the elements of a tile row-major. Extents are powers of two, so an element is a string of bits. A thread's place is
//! one, too: register, lane, warp. A [`Layout`] gives for every bit of the place a *column*, the element that this bit alone
//! stands for; the element of any other place is the exclusive or of the columns of its set bits. (Linear layouts over GF(2):
//! Zhou et al., "Linear Layouts", arXiv 2505.23819; here with one integer for the element instead of labelled dimensions.)
//!
//! A tile of 16 elements over two warps of (for once) four lanes:
//!
//! | | columns | read as |
//! |---|---|---|
//! | register | `[1]` | the two registers of a thread are neighbours |
//! | lane | `[2, 4]` | lanes continue where registers end |
//! | warp | `[8]` | the second warp has the second half |
//!
//! Register 1 of lane 3 in warp 1 holds element 1 ⊕ 2 ⊕ 4 ⊕ 8 = 15. A column 0 is replication: places that differ in that
//! bit alone hold the same element. Nothing here knows dimensions: reshaping a row-major tile does not move a column.
//!
//! **Invariant:** no zero column among the registers (a thread holds an element once), and every element has a place.

/// A map from places to elements of a tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Column of each register bit, fastest first.
    pub reg: Vec<u32>,
    /// Column of each of the five lane bits.
    pub lane: [u32; 5],
    /// Column of each warp bit.
    pub warp: Vec<u32>,
}

impl Layout {
    /// Consecutive elements first to the `vector` registers of a thread, then to lanes, then to warps; what is left over
    /// goes to further registers. Lanes and warps that are left over replicate.
    ///
    /// `elements`, `vector` and `num_warps` are powers of two, and `vector` ≤ `elements`.
    pub fn coalesced(elements: u32, vector: u32, num_warps: u32) -> Layout {
        let mut next = 1;
        let mut take = |below: u32| {
            let column = if next < below { next } else { 0 };
            next = if next < below { next * 2 } else { next };
            column
        };
        let mut reg: Vec<u32> = (0..vector.trailing_zeros()).map(|_| take(elements)).collect();
        let lane = std::array::from_fn(|_| take(elements));
        let warp = (0..num_warps.trailing_zeros()).map(|_| take(elements)).collect();
        while next < elements {
            reg.push(next);
            next *= 2;
        }
        Layout { reg, lane, warp }
    }

    /// Registers a thread needs for one tile.
    pub fn registers(&self) -> usize {
        1 << self.reg.len()
    }

    /// The element that register `register` holds in lane 0 of warp 0; lanes and warps xor their own on top.
    pub fn register_element(&self, register: usize) -> u32 {
        xor_of(&self.reg, register)
    }

    /// The element at a place.
    pub fn element(&self, register: usize, lane: usize, warp: usize) -> u32 {
        xor_of(&self.reg, register) ^ xor_of(&self.lane, lane) ^ xor_of(&self.warp, warp)
    }

    /// Consecutive elements that consecutive registers hold, aligned in every thread: how wide one access can be.
    pub fn vector(&self) -> u32 {
        let run = self.reg.iter().enumerate().take_while(|&(i, &column)| column == 1 << i).count();
        let width = 1u32 << run;
        let others = self.reg[run..].iter().chain(&self.lane).chain(&self.warp);
        // The run counts only as far as no other bit disturbs its low bits.
        others.fold(width, |w, &c| if c == 0 { w } else { w.min(1 << c.trailing_zeros()) })
    }

    /// Bits of lane and of warp whose column is 0: places that differ there alone hold the same element.
    pub fn replicated(&self) -> (u32, u32) {
        let zeros = |columns: &[u32]| {
            columns.iter().enumerate().filter(|&(_, &c)| c == 0).fold(0, |mask, (i, _)| mask | 1 << i)
        };
        (zeros(&self.lane), zeros(&self.warp))
    }
}

fn xor_of(columns: &[u32], index: usize) -> u32 {
    columns.iter().enumerate().filter(|&(i, _)| index >> i & 1 == 1).fold(0, |x, (_, &c)| x ^ c)
}

impl std::fmt::Display for Layout {
    /// `reg [1] lane [2,4,8,16,32] warp [64,128]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |columns: &[u32]| columns.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        write!(f, "reg [{}] lane [{}] warp [{}]", list(&self.reg), list(&self.lane), list(&self.warp))
    }
}
