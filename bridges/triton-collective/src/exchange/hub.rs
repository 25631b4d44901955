//! What the ranks of a world have brought, and what follows from it.
//!
//! **Invariant:** what is delivered to one rank before another thing is delivered in this order to every rank that gets both. So a gather is complete
//! for all ranks, or fails for all.

use super::lock;
use super::mailbox::{Event, Sink};
use std::sync::{Arc, Mutex};

/// Of one world.
pub(crate) struct Hub {
    state: Mutex<State>,
    /// Of each rank.
    sinks: Vec<Arc<dyn Sink>>,
}

struct State {
    /// What each rank has brought to the gather that is not complete.
    parts: Vec<Option<Arc<[u8]>>>,
    gone: Vec<bool>,
    /// Whether a gather timed out, which is the end of the world.
    has_timed_out: bool,
}

/// A rank did what none does, such as coming to one gather two times.
#[derive(Debug)]
pub(crate) struct OutOfTurn;

impl Hub {
    /// For ranks with these sinks.
    pub(crate) fn new(sinks: Vec<Arc<dyn Sink>>) -> Hub {
        let world = sinks.len();
        let state = State { parts: vec![None; world], gone: vec![false; world], has_timed_out: false };
        Hub { state: Mutex::new(state), sinks }
    }

    /// A rank comes to the gather.
    pub(crate) fn bring(&self, rank: usize, bytes: Arc<[u8]>) -> Result<(), OutOfTurn> {
        let mut state = lock(&self.state);
        let part = state.parts.get_mut(rank).filter(|part| part.is_none()).ok_or(OutOfTurn)?;
        *part = Some(bytes);
        let complete = state.parts.iter().all(Option::is_some);
        // Where a rank is gone, the others have been told that they fail.
        if complete && !state.has_timed_out && !state.gone.contains(&true) {
            let parts: Vec<Arc<[u8]>> = state.parts.iter_mut().filter_map(Option::take).collect();
            for sink in &self.sinks {
                sink.deliver(Event::Gathered(parts.clone()));
            }
        }
        Ok(())
    }

    /// A rank sends bytes to another one.
    pub(crate) fn send(&self, from: usize, to: usize, bytes: Arc<[u8]>) -> Result<(), OutOfTurn> {
        self.sinks.get(to).ok_or(OutOfTurn)?.deliver(Event::Message { from, bytes });
        Ok(())
    }

    /// A rank has waited for as long as it does: if the gather is still not complete, it has failed for all.
    pub(crate) fn expire(&self, rank: usize) {
        let mut state = lock(&self.state);
        let waits = state.parts.get(rank).is_some_and(Option::is_some);
        if waits && !state.has_timed_out {
            state.has_timed_out = true;
            let missing = state.parts.iter().enumerate().filter(|(_, part)| part.is_none()).map(|(rank, _)| rank);
            let missing: Vec<usize> = missing.collect();
            for sink in &self.sinks {
                sink.deliver(Event::TimedOut { missing: missing.clone() });
            }
        }
    }

    /// A rank takes no more part. The second time changes nothing.
    pub(crate) fn leave(&self, rank: usize, in_order: bool) {
        let mut state = lock(&self.state);
        let Some(gone) = state.gone.get_mut(rank) else { return };
        if !std::mem::replace(gone, true) {
            for (_, sink) in self.sinks.iter().enumerate().filter(|(other, _)| *other != rank) {
                sink.deliver(Event::Gone { rank, in_order });
            }
        }
    }
}
