//! What ordered updates order, at stage 2.
//!
//! An update that releases is made by one thread, for the program: all that other threads did to global memory happens before it, by a
//! barrier. And what any thread does to global memory after an update that acquires follows it, by another one.

use super::clock::{Clocks, Epoch, Now};
use crate::ops::MemoryOrder;
use std::collections::BTreeMap;

/// Accesses to global memory since the last barrier of the program: by warp and lane the time of the last one.
#[derive(Default)]
pub(super) struct Order {
    accesses: BTreeMap<(u16, u8), u32>,
    /// Those of updates that acquire.
    acquired: BTreeMap<(u16, u8), u32>,
}

impl Order {
    /// Checks that an access of a thread is ordered after what it must follow.
    pub(super) fn check(&self, clocks: &Clocks, thread: u32, order: MemoryOrder) -> Result<(), String> {
        let now = clocks.now(thread);
        let first = |of: &BTreeMap<(u16, u8), u32>| {
            let mut epochs = of.iter().map(|(&(agent, lane), &time)| Epoch { time, agent, lane });
            epochs.find(|&epoch| !now.follows(epoch))
        };
        let name = |epoch: Epoch| (clocks.name(now.epoch), clocks.name(epoch));
        if let Some((this, other)) = first(&self.acquired).map(name) {
            return Err(format!("{this} accesses it, {other} has acquired it, and no barrier is in between"));
        }
        if let Some((this, other)) = Some(&self.accesses).filter(|_| order.releases()).and_then(first).map(name) {
            return Err(format!("{this} releases what {other} did, and no barrier is in between"));
        }
        Ok(())
    }

    /// Remembers an access.
    pub(super) fn remember(&mut self, now: &Now<'_>, order: MemoryOrder) {
        let Epoch { time, agent, lane } = now.epoch;
        self.accesses.insert((agent, lane), time);
        if order.acquires() {
            self.acquired.insert((agent, lane), time);
        }
    }
}
