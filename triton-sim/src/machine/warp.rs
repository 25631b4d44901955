//! A warp: its registers, and its lanes in groups at the same instruction.

use super::bulk::BulkQueue;
use super::livelock::{Iterations, Watch};
use super::wgmma::WgmmaQueue;
use crate::code::Kernel;
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

/// A warp of a block.
#[derive(Debug, Default)]
pub struct Warp {
    /// Number in the block.
    pub index: u32,
    /// Lanes that exist: all but in the last warp of some blocks.
    pub launched: u32,
    /// Lanes that have ended.
    pub exited: u32,
    /// The others.
    pub fragments: Vec<Fragment>,
    /// A value for each register and lane.
    pub registers: Vec<Lanes>,
    /// Lanes in which a register was written.
    pub defined: Vec<u32>,
    /// Instructions that ran: the time of the next two.
    pub time: u64,
    /// When an ordinary instruction last wrote a register.
    pub written: Vec<u64>,
    /// How many unfinished `wgmma` use a register: as accumulator in the low half, as fragment of A in the high half.
    pub locked: Vec<u32>,
    /// Unfinished `wgmma`.
    pub wgmma: WgmmaQueue,
    /// Local memory of each lane, made at the first access, and which bytes were written.
    pub local: Vec<(Vec<u8>, Vec<bool>)>,
    /// Bulk copies of each lane.
    pub bulk: Vec<BulkQueue>,
    /// `cp.async` of each lane.
    pub copies: Vec<CopyQueue>,
    /// The phase of the cluster's barrier that each lane has arrived at and not yet waited for.
    pub cluster_phase: [Option<u64>; 32],
    /// Registers of a thread, as `setmaxnreg` left them; none if they are unknown.
    pub max_registers: Option<u32>,
    /// An earlier state, to detect a repetition.
    pub watch: Option<Box<Watch>>,
    /// Iterations of its loops.
    pub iterations: Iterations,
}

impl Warp {
    /// A warp with this many lanes at the first instruction.
    pub fn new(index: u32, lanes: u32, kernel: &Kernel) -> Warp {
        let count = kernel.registers.len();
        let launched = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
        Warp {
            index,
            launched,
            fragments: vec![Fragment { lanes: launched, pc: 0, wait: None, streak: 0 }],
            registers: vec![[0; 32]; count],
            defined: vec![0; count],
            written: vec![0; count],
            locked: vec![0; count],
            bulk: std::iter::repeat_with(BulkQueue::default).take(32).collect(),
            copies: std::iter::repeat_with(CopyQueue::default).take(32).collect(),
            max_registers: kernel.max_registers,
            ..Warp::default()
        }
    }

    /// Lanes that have not ended.
    pub fn live(&self) -> u32 {
        self.launched & !self.exited
    }

    /// Joins fragments at the same instruction and do not wait for something else.
    pub fn merge(&mut self) {
        let mut i = 0;
        while i < self.fragments.len() {
            let mut j = i + 1;
            while j < self.fragments.len() {
                let (a, b) = (&self.fragments[i], &self.fragments[j]);
                // Lanes that wait for some of the warp are not joined by others.
                let takes = |f: &Fragment, others: u32| match f.wait {
                    None => true,
                    Some(Waiting::Lanes(needed)) => others & !needed == 0,
                    Some(_) => false,
                };
                if a.pc == b.pc && takes(a, b.lanes) && takes(b, a.lanes) {
                    let other = self.fragments.swap_remove(j);
                    let fragment = &mut self.fragments[i];
                    fragment.lanes |= other.lanes;
                    fragment.wait = None;
                    fragment.streak = fragment.streak.max(other.streak);
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }
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
