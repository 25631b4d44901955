//! A vector clock at one point of a program, and the part of it that passed a proxy fence.

use super::VectorClock;
use super::restricted::{OfBlock, Restricted};

/// A state space that the asynchronous proxy accesses; a proxy fence is for one or for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Shared memory of the blocks of a cluster.
    Shared,
    /// Global memory.
    Global,
}

/// What happened before: base causality order, and proxy-preserved base causality order for both spaces (PTX ISA, "Memory
/// Consistency Model"). Barriers hold one that arrivals are joined into. A clone is cheap.
#[derive(Clone, Debug)]
pub struct View {
    /// What happened before.
    pub known: VectorClock,
    /// The part of it that happened before a `fence.proxy.async` for shared and for global memory: by `Space`.
    pub fenced: [VectorClock; 2],
    /// What happened before as far as it is of shared memory.
    pub(super) restricted: Restricted,
}

impl View {
    /// Nothing happened before, seen from this cluster.
    pub fn new(cluster: u32) -> View {
        let nothing = VectorClock::new(cluster);
        View { known: nothing.clone(), fenced: [nothing.clone(), nothing], restricted: Restricted::default() }
    }

    /// What happened before either.
    pub fn join(&mut self, other: &View) {
        self.known.join(&other.known);
        for (ours, theirs) in self.fenced.iter_mut().zip(&other.fenced) {
            ours.join(theirs);
        }
        self.restricted.join(&other.restricted);
    }

    /// The part of it that is of shared memory: of all `blocks` of the cluster, or of one.
    pub(super) fn restrict(&self, cluster: u32, blocks: u8, only: Option<u8>) -> View {
        let nothing = View::new(cluster);
        let of_block = |rank: u8| {
            if only.is_some_and(|only| only != rank) {
                return OfBlock { known: nothing.known.clone(), fenced: nothing.known.clone() };
            }
            let (mut known, mut fenced) = (self.known.clone(), self.fenced[Space::Shared as usize].clone());
            if let Some(more) = self.restricted.of(rank) {
                known.join(&more.known);
                fenced.join(&more.fenced);
            }
            OfBlock { known, fenced }
        };
        let restricted = Restricted::new((0..blocks).map(of_block));
        View { restricted, ..nothing }
    }

    /// Whether an access of an agent of this cluster to the shared memory of a block happened before.
    pub fn knows_shared(&self, cluster: u32, rank: u8, agent: u32, clock: u32) -> bool {
        self.known.contains(cluster, agent, clock)
            || self.restricted.of(rank).is_some_and(|of_block| of_block.known.contains(cluster, agent, clock))
    }

    /// Learns an epoch of an agent of this cluster: that asynchronous work is complete.
    pub fn join_epoch(&mut self, cluster: u32, agent: u32, clock: u32) {
        self.known.set(cluster, agent, clock);
    }

    /// Whether both are the same vectors in memory.
    pub fn ptr_eq(&self, other: &View) -> bool {
        let fenced = self.fenced.iter().zip(&other.fenced).all(|(a, b)| a.ptr_eq(b));
        fenced && self.known.ptr_eq(&other.known) && self.restricted.ptr_eq(&other.restricted)
    }
}
