//! A vector clock at one point of a program, and the part of it that passed a proxy fence.

use super::VectorClock;

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
}

impl View {
    /// Nothing happened before, seen from this cluster.
    pub fn new(cluster: u32) -> View {
        let nothing = VectorClock::new(cluster);
        View { known: nothing.clone(), fenced: [nothing.clone(), nothing] }
    }

    /// What happened before either.
    pub fn join(&mut self, other: &View) {
        self.known.join(&other.known);
        for (ours, theirs) in self.fenced.iter_mut().zip(&other.fenced) {
            ours.join(theirs);
        }
    }

    /// Learns an epoch of an agent of this cluster: that asynchronous work is complete.
    pub fn join_epoch(&mut self, cluster: u32, agent: u32, clock: u32) {
        self.known.set(cluster, agent, clock);
    }

    /// Whether both are the same vectors in memory.
    pub fn ptr_eq(&self, other: &View) -> bool {
        self.known.ptr_eq(&other.known) && self.fenced.iter().zip(&other.fenced).all(|(a, b)| a.ptr_eq(b))
    }
}
