//! The vector clock of one thread.

use super::{Space, VectorClock, View};

/// The vector clock of one thread. Epochs that differ between lanes are kept beside the shared vectors: its own (the
/// clock is its warp's), and one of asynchronous work of its own.
#[derive(Clone, Debug)]
pub struct Thread {
    pub(super) view: View,
    /// Its own last clock that passed a proxy fence, by `Space`.
    pub(super) fenced: [u32; 2],
    pub(super) copies: Copies,
}

/// Asynchronous work that a thread waited for: an agent of its cluster, its last known clock, and those that passed a
/// proxy fence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    pub(super) agent: u32,
    pub(super) known: u32,
    pub(super) fenced: [u32; 2],
}

/// Which part of a view is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layer {
    Known,
    Fenced(Space),
}

impl Thread {
    pub(super) fn new(cluster: u32) -> Thread {
        Thread { view: View::new(cluster), fenced: [0; 2], copies: Copies::default() }
    }

    pub(super) fn vector_clock(&self, layer: Layer) -> &VectorClock {
        match layer {
            Layer::Known => &self.view.known,
            Layer::Fenced(space) => &self.view.fenced[space as usize],
        }
    }

    /// What is known beside it of the shared memory of a block.
    pub(super) fn restricted(&self, layer: Layer, rank: Option<u8>) -> Option<&VectorClock> {
        let of_block = self.view.restricted.of(rank?)?;
        Some(match layer {
            Layer::Known => &of_block.known,
            Layer::Fenced(_) => &of_block.fenced,
        })
    }

    /// The last clock of its own, of all up to `clock`, that belongs to this part.
    pub(super) fn own(&self, layer: Layer, clock: u32) -> u32 {
        match layer {
            Layer::Known => clock,
            Layer::Fenced(space) => self.fenced[space as usize],
        }
    }

    /// The lane of this group that is asynchronous work of the thread and of which this clock is known, as a mask.
    pub(super) fn copies(&self, layer: Layer, group: u32, clock: u32) -> u32 {
        let last = match layer {
            Layer::Known => self.copies.known,
            Layer::Fenced(space) => self.copies.fenced[space as usize],
        };
        if self.copies.agent / 32 == group && last >= clock { 1 << (self.copies.agent % 32) } else { 0 }
    }

    /// The view with all that is kept beside it, joined into another one.
    pub(super) fn publish(&self, into: &mut View, cluster: u32, agent: u32, clock: u32) {
        into.known.set(cluster, agent, clock);
        into.known.set(cluster, self.copies.agent, self.copies.known);
        for (space, fenced) in into.fenced.iter_mut().enumerate() {
            fenced.set(cluster, agent, self.fenced[space]);
            fenced.set(cluster, self.copies.agent, self.copies.fenced[space]);
        }
    }
}
