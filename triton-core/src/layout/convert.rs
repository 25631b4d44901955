//! How a tile gets from one layout to another: the cheapest plan, complete enough to be executed.
//!
//! Solve `src · G = dst`: the *gather map* G says for every bit of a position in `dst` which bits of a position in
//! `src` to read from ([`Gather`]). Where `src` has an element several times there is a choice; G stays in the thread
//! if registers alone can make up the difference, else in the warp. What G does then names the cheapest means
//! ([`Kind`]):
//!
//! | the position read from | means |
//! |---|---|
//! | is in another warp | through shared memory |
//! | is in another lane | shuffles, or shared memory within each warp, whichever is cheaper |
//! | is in the thread, in a register that depends on lane or warp | selects |
//! | is in the thread, in the same register for all threads | other names, or nothing at all |
//!
//! **Invariant:** a [`Plan`] does not refer to the layouts: [`Plan::execute`] defines the meaning of every part of it,
//! and its cost is the one that layout assignment compared.

use super::cost;
use super::linear::{Basis, independent, rank, units};
use super::shared::{self, Shared};
use super::shuffle::{self, Select, Shuffle};
use super::{LANES, Layout};

/// How to convert a tile from one layout to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The means.
    pub kind: Kind,
    /// Cycles of a multiprocessor for all warps ([`cost`]).
    pub cost: f64,
    /// log2 of the registers of a thread before.
    pub from: usize,
    /// log2 of the registers of a thread after.
    pub to: usize,
    /// log2 of the warps.
    pub warps: usize,
}

/// The means of a [`Plan`].
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The layouts are equal.
    None,
    /// Every thread holds the elements already; register `r` is the former register `apply(map, r)`.
    Rename {
        /// Former register of each bit of a register.
        map: Vec<u32>,
    },
    /// Every thread holds the elements already, in registers that depend on the thread.
    Select(Select),
    /// Every warp holds the elements already.
    Shuffle(Shuffle),
    /// Through shared memory.
    Shared(Shared),
}

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
            let places = pools.iter().find_map(|pool| pool.solve(element ^ stays_at))?;
            Some(places as u32 ^ stay)
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
    fn reg(&self, place: u32) -> u32 {
        place & ((1u64 << self.from) - 1) as u32
    }

    /// The lane part of a position.
    fn lane(&self, place: u32) -> u32 {
        (u64::from(place) >> self.from) as u32 & 31
    }

    /// The warp part of a position.
    fn warp(&self, place: u32) -> u32 {
        (u64::from(place) >> (self.from + 5)) as u32
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

/// The cheapest plan for elements of `bits` bits (8, 16, 32 or 64); `stmatrix` says whether the target has it.
///
/// `None` if the layouts are not of the same tile over the same warps, or break the invariant of layouts.
pub fn plan(src: &Layout, dst: &Layout, bits: u32, stmatrix: bool) -> Option<Plan> {
    let elements = 1 << src.bits();
    if !src.covers(elements) || !dst.covers(elements) || !matches!(bits, 8 | 16 | 32 | 64) {
        return None;
    }
    let gather = Gather::new(src, dst)?;
    let warps = f64::from(1u32 << dst.warp.len().min(31));
    let done = |kind, cost| Some(Plan { kind, cost, from: gather.from, to: gather.to, warps: dst.warp.len() });
    if gather.leaves_thread() {
        let near = !gather.leaves_warp();
        let shuffle = if near { shuffle::shuffle(src, dst, &gather, bits) } else { None };
        let direct = shuffle.as_ref().map_or(f64::INFINITY, |s| s.cycles() * warps);
        // No plan through shared memory is cheaper than its latency.
        let shared = if direct <= cost::WARP_ROUND_TRIP { None } else { shared::plan(src, dst, bits, stmatrix, near) };
        let through = shared.as_ref().map_or(f64::INFINITY, |s| s.cycles(warps));
        return match (shuffle, shared) {
            (Some(shuffle), _) if direct <= through => done(Kind::Shuffle(shuffle), direct),
            (_, shared) => done(Kind::Shared(shared?), through),
        };
    }
    let registers = gather.registers();
    if registers[gather.to..].iter().any(|&r| r != 0) {
        let select = shuffle::select(src, dst, &gather, bits)?;
        let cost = select.cycles() * warps;
        return done(Kind::Select(select), cost);
    }
    let map = registers[..gather.to].to_vec();
    let moved = |(i, r): (usize, &u32)| *r != 1 << i;
    if gather.from == gather.to && !map.iter().enumerate().any(moved) {
        return done(Kind::None, 0.0);
    }
    // Elements that share a 32-bit register and are to share another one need an instruction for each.
    let pack = (32 / bits).max(1).ilog2() as usize;
    let repack = pack.min(gather.to) > 0 && (gather.from < pack || map.iter().enumerate().take(pack).any(moved));
    let words = f64::from(1u32 << gather.to.saturating_sub(pack).min(31));
    done(Kind::Rename { map }, if repack { words * warps * cost::ISSUE } else { 0.0 })
}

/// A step of a permutation of the words of a thread that depends on the thread: in threads for which
/// `lane & lanes` and `warp & warps` have together an odd number of bits, word `x` and word `x ⊕ swap` are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What the numbers of words that are swapped differ by.
    pub swap: u32,
    /// Lane bits that decide.
    pub lanes: u32,
    /// Warp bits that decide.
    pub warps: u32,
}

impl Stage {
    /// Whether a thread swaps.
    pub fn swaps(&self, lane: u32, warp: u32) -> bool {
        ((lane & self.lanes).count_ones() + (warp & self.warps).count_ones()) & 1 == 1
    }
}

/// The stages that together move word `x` to word `x ⊕ shift(thread)`, where `shift` is linear: as many as its rank, one
/// select a word each, like a barrel shifter.
pub(super) fn stages(lane: &[u32], warp: &[u32]) -> Vec<Stage> {
    let shifts: Vec<u32> = lane.iter().chain(warp).copied().collect();
    let swaps = independent(shifts.iter().copied(), &[]);
    let basis = Basis::of(swaps.iter().copied());
    let uses: Vec<u64> = shifts.iter().map(|&s| basis.solve(s).unwrap_or(0)).collect();
    let mask = |stage: usize, of: &[u64]| of.iter().enumerate().fold(0, |m, (i, u)| m | ((u >> stage & 1) as u32) << i);
    let (lanes, warps) = uses.split_at(lane.len());
    let stage = |(i, &swap): (usize, &u32)| Stage { swap, lanes: mask(i, lanes), warps: mask(i, warps) };
    swaps.iter().enumerate().map(stage).collect()
}

/// Words that the stages compute, if after them only words `apply(read, ..)` are used.
pub(super) fn selects(stages: &[Stage], read: &[u32]) -> u32 {
    let after = |i: usize| 1 << rank(read.iter().copied().chain(stages[i + 1..].iter().map(|s| s.swap)));
    (0..stages.len()).map(after).sum()
}

impl Plan {
    /// Threads of the program.
    pub fn threads(&self) -> usize {
        LANES << self.warps
    }
}
