//! Finds data races and missing proxy fences by happens-before, while a program runs.
//!
//! FastTrack (Flanagan and Freund, PLDI 2009) with the agents of a GPU: threads in warps, and the asynchronous work that they
//! start. [`Causality`] has the vector clocks of the threads of a cluster, [`Shadow`] the accesses to each
//! byte, [`SyncMap`] carries clocks from a release to an acquire. A barrier is a [`View`] that arrivals are merged
//! into.
//!
//! An *agent* is anything with a program order of its own: a thread of the cluster (agent `32 * warp + lane`), or
//! asynchronous work (numbers after those of the threads). It has a *clock* that grows from 1; an agent and a clock are
//! an *epoch*. All threads of a warp have one clock, so that one record can stand for many lanes.

mod causality;
mod cell;
mod clocks;
mod ordering;
mod record;
mod restricted;
mod shadow;
mod sync;
#[cfg(test)]
mod tests;
mod thread;
mod view;

pub use crate::access::AccessKind;
pub use causality::{Causality, ClockSnapshot};
pub use clocks::{Clocks, VectorClock};
pub use ordering::{Fence, Ordering};
pub use record::{Access, Accessor, ConflictKind, Performer, Proxy, Record, Scope};
pub use shadow::{Conflict, Shadow};
pub use sync::SyncMap;
pub use thread::Thread;
pub use view::{Space, View};

/// The numbers of the lanes of a mask, rising.
fn lanes_of(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(lane)
    })
}
