//! What happened before, of the accesses to shared memory alone: what fences with `.sync_restrict` order.

use super::VectorClock;
use std::rc::Rc;

/// For the shared memory of each block of the cluster, the epochs whose accesses to it happened before, beside those that
/// happened before altogether. Most programs have none. A clone is a reference.
#[derive(Clone, Debug, Default)]
pub struct Restricted(Option<Rc<Vec<OfBlock>>>);

/// Of one block.
#[derive(Clone, Debug)]
pub(super) struct OfBlock {
    /// What happened before.
    pub(super) known: VectorClock,
    /// The part of it that happened before a `fence.proxy.async`.
    pub(super) fenced: VectorClock,
}

impl Restricted {
    /// Of the blocks in order of their ranks.
    pub(super) fn new(blocks: impl Iterator<Item = OfBlock>) -> Restricted {
        Restricted(Some(Rc::new(blocks.collect())))
    }

    /// That of one block.
    pub(super) fn of(&self, rank: u8) -> Option<&OfBlock> {
        self.0.as_ref()?.get(usize::from(rank))
    }

    /// Merges another one of the same cluster.
    pub(super) fn join(&mut self, other: &Restricted) {
        let Some(theirs) = &other.0 else { return };
        match &mut self.0 {
            Some(ours) if Rc::ptr_eq(ours, theirs) => {}
            Some(ours) => {
                for (ours, theirs) in Rc::make_mut(ours).iter_mut().zip(theirs.iter()) {
                    ours.known.join(&theirs.known);
                    ours.fenced.join(&theirs.fenced);
                }
            }
            None => self.0.clone_from(&other.0),
        }
    }

    /// All of it passes a proxy fence for shared memory.
    pub(super) fn fence_proxy(&mut self) {
        for block in self.0.iter_mut().flat_map(|blocks| Rc::make_mut(blocks).iter_mut()) {
            block.fenced = block.known.clone();
        }
    }

    /// Whether both are the same in memory.
    pub(super) fn ptr_eq(&self, other: &Restricted) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}
