//! What was delivered to one rank, and how it waits for it.

use super::{Failure, left, lock};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// The bytes of all ranks.
pub(crate) type Parts = Vec<Arc<[u8]>>;

/// What the hub tells a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// All ranks have brought their bytes.
    Gathered(Parts),
    /// A rank sent these.
    Message { from: usize, bytes: Arc<[u8]> },
    /// The time-out of a gather: these ranks did not come.
    TimedOut { missing: Vec<usize> },
    /// A rank takes no more part, after it has said so, or without.
    Gone { rank: usize, in_order: bool },
}

/// Where the hub delivers what a rank gets.
pub(crate) trait Sink: Send + Sync {
    fn deliver(&self, event: Event);
}

/// The events of a rank, until it takes them.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    gathered: VecDeque<Parts>,
    /// From each rank.
    messages: Vec<VecDeque<Arc<[u8]>>>,
    /// Ranks that take no more part, in the order of their leaving, and whether they have said so.
    gone: Vec<(usize, bool)>,
    timed_out: Option<Vec<usize>>,
    /// Whether nothing more is delivered.
    is_closed: bool,
}

impl State {
    /// The first rank that failed.
    fn failed(&self) -> Option<usize> {
        self.gone.iter().find(|(_, in_order)| !in_order).map(|(rank, _)| *rank)
    }

    /// What keeps a gather from being complete.
    fn hindered(&self) -> Option<Failure> {
        let gone = || self.failed().or_else(|| self.gone.first().map(|(rank, _)| *rank));
        match &self.timed_out {
            Some(missing) => Some(Failure::Timeout { missing: missing.clone() }),
            None => gone().map(|rank| Failure::Gone { rank }),
        }
    }

    /// What keeps a rank from sending more.
    fn hindered_from(&self, from: usize) -> Option<Failure> {
        let left =
            || self.gone.iter().find(|(rank, _)| *rank == from).map(|(rank, _)| *rank).or(self.is_closed.then_some(0));
        match &self.timed_out {
            Some(missing) => Some(Failure::Timeout { missing: missing.clone() }),
            None => self.failed().or_else(left).map(|rank| Failure::Gone { rank }),
        }
    }
}

impl Mailbox {
    pub(crate) fn new(world: usize) -> Mailbox {
        let state = State {
            gathered: VecDeque::new(),
            messages: vec![VecDeque::new(); world],
            gone: Vec::new(),
            timed_out: None,
            is_closed: false,
        };
        Mailbox { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The bytes of all ranks; `None` at the deadline.
    pub(crate) fn gathered(&self, deadline: Instant) -> Option<Result<Parts, Failure>> {
        // What is complete precedes what came later.
        self.wait(deadline, |state| state.gathered.pop_front().map(Ok).or_else(|| state.hindered().map(Err)))
    }

    /// The next bytes of a rank; `None` at the deadline.
    pub(crate) fn message(&self, from: usize, deadline: Instant) -> Option<Result<Arc<[u8]>, Failure>> {
        self.wait(deadline, |state| {
            let message = state.messages.get_mut(from).and_then(VecDeque::pop_front);
            message.map(Ok).or_else(|| state.hindered_from(from).map(Err))
        })
    }

    /// Nothing more is delivered: the connection to the hub, which is with rank 0, has ended.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        if !state.gone.iter().any(|(rank, _)| *rank == 0) {
            state.gone.push((0, false));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// What keeps a rank from receiving.
    pub(crate) fn hindered_from(&self, rank: usize) -> Option<Failure> {
        lock(&self.state).hindered_from(rank)
    }

    /// The first rank that failed.
    pub(crate) fn failed(&self) -> Option<usize> {
        lock(&self.state).failed()
    }

    fn wait<T>(&self, deadline: Instant, mut take: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(taken) = take(&mut state) {
                return Some(taken);
            }
            let left = left(deadline);
            if left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Sink for Mailbox {
    fn deliver(&self, event: Event) {
        let mut state = lock(&self.state);
        match event {
            Event::Gathered(parts) => state.gathered.push_back(parts),
            Event::Message { from, bytes } => {
                if let Some(messages) = state.messages.get_mut(from) {
                    messages.push_back(bytes);
                }
            }
            Event::TimedOut { missing } => {
                state.timed_out.get_or_insert(missing);
            }
            Event::Gone { rank, in_order } => state.gone.push((rank, in_order)),
        }
        drop(state);
        self.changed.notify_all();
    }
}
