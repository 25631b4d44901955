//! How a tile gets from one layout to another: the cheapest plan, complete enough to be executed.
//!
//! Solve `src · G = dst`: the *gather map* G says for every bit of a position in `dst` which bits of a position in
//! `src` to read from ([`Gather`]). Where `src` has an element several times there is a choice; G stays in the thread
//! if registers alone can make up the difference, else in the warp. What G does then names the cheapest means
//! ([`PlanKind`]):
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
use super::gather::Gather;
use super::shared::{self, Shared};
use super::shuffle::{self, Select, Shuffle};
use super::{LANES, Layout};

/// How to convert a tile from one layout to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The means.
    pub kind: PlanKind,
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
pub enum PlanKind {
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
            (Some(shuffle), _) if direct <= through => done(PlanKind::Shuffle(shuffle), direct),
            (_, shared) => done(PlanKind::Shared(shared?), through),
        };
    }
    let registers = gather.registers();
    if registers[gather.to..].iter().any(|&r| r != 0) {
        let select = shuffle::select(src, dst, &gather, bits)?;
        let cost = select.cycles() * warps;
        return done(PlanKind::Select(select), cost);
    }
    let map = registers[..gather.to].to_vec();
    let moved = |(i, r): (usize, &u32)| *r != 1 << i;
    if gather.from == gather.to && !map.iter().enumerate().any(moved) {
        return done(PlanKind::None, 0.0);
    }
    // Elements that share a 32-bit register and are to share another one need an instruction for each.
    let pack = (32 / bits).max(1).ilog2() as usize;
    let repack = pack.min(gather.to) > 0 && (gather.from < pack || map.iter().enumerate().take(pack).any(moved));
    let words = f64::from(1u32 << gather.to.saturating_sub(pack).min(31));
    done(PlanKind::Rename { map }, if repack { words * warps * cost::ISSUE } else { 0.0 })
}

/// The plan through shared memory, for what is to stay there until it is needed; `None` as in [`plan`].
pub fn through_memory(src: &Layout, dst: &Layout, bits: u32, stmatrix: bool) -> Option<Shared> {
    let gather = Gather::new(src, dst)?;
    shared::plan(src, dst, bits, stmatrix, !gather.leaves_warp())
}

impl Plan {
    /// Threads of the program.
    pub fn threads(&self) -> usize {
        LANES << self.warps
    }
}
