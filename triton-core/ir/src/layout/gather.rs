//! The gather map of a conversion: from which position of the former layout each position of the new one reads.

use super::Layout;
use super::linear::{Basis, units};

/// For every bit of a position in the new layout, the position in the former one to read from; for other positions the
/// sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gather {
    /// Positions in the former layout, as bits of register, lane and warp from the lowest, by bits of the position in
    /// the new one: registers, lanes, warps.
    pub columns: Vec<u32>,
    /// log2 of the former registers.
    pub from: usize,
    /// log2 of the new registers.
    pub to: usize,
}

impl Gather {
    /// `None` if the layouts are not over equally many warps, or the new one has elements that the former one has not.
    pub fn new(src: &Layout, dst: &Layout) -> Option<Gather> {
        let (from, to) = (src.reg.len(), dst.reg.len());
        // A position must fit a word.
        if src.warp.len() != dst.warp.len() || from.max(to) + 5 + src.warp.len() > 32 {
            return None;
        }
        let thread = Basis::of(src.reg.iter().copied());
        let mut warp = thread.clone();
        warp.extend_numbered(src.lane, from);
        let mut all = warp.clone();
        all.extend_numbered(src.warp.iter().copied(), from + 5);
        let pools = [thread, warp, all];
        let read = |element: u32, stay: u32, stays_at: u32| {
            let position = pools.iter().find_map(|pool| pool.solve(element ^ stays_at))?;
            Some(position as u32 ^ stay)
        };
        let mut columns = Vec::with_capacity(to + 5 + dst.warp.len());
        for &element in &dst.reg {
            columns.push(read(element, 0, 0)?);
        }
        let threads = src.lane.iter().chain(&src.warp).zip(dst.lane.iter().chain(&dst.warp));
        for (i, (&own, &element)) in threads.enumerate() {
            columns.push(read(element, 1 << (from + i), own)?);
        }
        Some(Gather { columns, from, to })
    }

    /// The register part of a position.
    fn reg(&self, position: u32) -> u32 {
        position & ((1u64 << self.from) - 1) as u32
    }

    /// The lane part of a position.
    fn lane(&self, position: u32) -> u32 {
        (u64::from(position) >> self.from) as u32 & 31
    }

    /// The warp part of a position.
    fn warp(&self, position: u32) -> u32 {
        (u64::from(position) >> (self.from + 5)) as u32
    }

    /// Former register of each new register bit, then of each lane bit, then of each warp bit.
    pub fn registers(&self) -> Vec<u32> {
        self.columns.iter().map(|&c| self.reg(c)).collect()
    }

    /// Former lane of each new register bit, then of each lane bit, then of each warp bit.
    pub fn lanes(&self) -> Vec<u32> {
        self.columns.iter().map(|&c| self.lane(c)).collect()
    }

    /// Whether a thread reads from another warp.
    pub fn leaves_warp(&self) -> bool {
        let (near, warps) = self.columns.split_at(self.to + 5);
        near.iter().any(|&c| self.warp(c) != 0) || warps.iter().zip(units(32)).any(|(&c, own)| self.warp(c) != own)
    }

    /// Whether a thread reads from another lane, or another warp.
    pub fn leaves_thread(&self) -> bool {
        let own =
            (0..self.columns.len()).map(|i| if (self.to..self.to + 5).contains(&i) { 1 << (i - self.to) } else { 0 });
        self.leaves_warp() || self.columns.iter().zip(own).any(|(&c, own)| self.lane(c) != own)
    }
}
