//! The lanes of a warp, in groups at the same instruction, and what these wait for.

use std::collections::VecDeque;

/// A value for each lane.
pub type Lanes = [u64; 32];

/// Lanes at the same instruction. Lanes that took different branches are in different fragments until they reconverge.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The lanes.
    pub lanes: u32,
    /// The instruction that comes next, or that they wait at.
    pub pc: u32,
    /// What they wait for.
    pub wait: Option<Waiting>,
    /// Instructions since another fragment ran.
    pub streak: u32,
}

/// What a fragment waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Waiting {
    /// These lanes of the warp to reach the same instruction.
    Lanes(u32),
    /// These lanes to reach any `bar.warp.sync` with this mask.
    WarpSync(u32),
    /// The end of this generation of a barrier of the block.
    Bar {
        /// The barrier's number.
        id: u8,
        /// Counts completions.
        generation: u64,
    },
    /// The end of this phase of the cluster's barrier.
    Cluster {
        /// Counts completions.
        phase: u64,
    },
    /// All warps of a warpgroup to reach a product.
    Warpgroup {
        /// Its number in the block.
        group: usize,
        /// Which product, from 0.
        sequence: u64,
    },
    /// That the block's pool has registers.
    Registers {
        /// Registers of a thread that are asked for.
        count: u32,
        /// How many more than it has.
        more: u32,
    },
    /// That an mbarrier is no longer in this phase.
    Mbarrier {
        /// Rank of its block.
        rank: u32,
        /// Its offset in shared memory.
        offset: u32,
        /// The running phase.
        phase: u64,
    },
}

/// `cp.async` copies of one lane, by group.
#[derive(Debug, Default)]
pub struct CopyQueue {
    /// Numbers of the copies of the group that is not committed.
    pub open: Vec<u64>,
    /// Committed groups with their clocks, the oldest first.
    pub groups: VecDeque<(u32, Vec<u64>)>,
    /// Clock of the lane's copy agent.
    pub clock: u32,
    /// The lane's copy agent.
    pub agent: Option<u32>,
}

/// The numbers of the set bits.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}
