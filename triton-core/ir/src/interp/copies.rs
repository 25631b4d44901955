//! Copies and messages in flight, and what the slots of rings hold: the state of [`super::rings`].

use super::clock::Epoch;
use crate::types::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// Through what shared memory is accessed: a buffer, and the item of it if it belongs to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) buffer: Value,
    pub(super) item: i128,
}

/// The rings of a program.
#[derive(Default)]
pub(super) struct Rings {
    /// The fills of the item that is not complete yet.
    pub(super) open: Vec<Copy>,
    /// Items in flight that threads copy, of all rings, the oldest first.
    pub(super) flight: VecDeque<Vec<Copy>>,
    /// Items in flight that bulk copies fill.
    pub(super) bulk: Vec<Vec<Copy>>,
    /// Copies to global memory that have not been waited for, in their order.
    pub(super) drains: Vec<Drain>,
    /// What is in each slot of a buffer.
    pub(super) slots: HashMap<(Value, u32), Slot>,
    /// When the item of a slot was waited for, by each warp of the team that did: the last one of each slot.
    pub(super) waited: HashMap<(Value, u32), Vec<Epoch>>,
    /// What was told by those who released the item of a slot that bulk copies fill.
    pub(super) released: HashMap<(Value, u32), Vec<u32>>,
    /// What the producer knows.
    pub(super) producer: Vec<u32>,
    /// Items since the program began: the time of their copies.
    pub(super) items: u32,
    /// The fills of rings that blocks of a cluster fill together.
    pub(super) together: Vec<Together>,
}

/// A fill that the blocks of a cluster do together, as far as they have to agree: of which buffer, for which item, and,
/// if there is one, from where, if that is the same for all.
#[derive(PartialEq)]
pub(super) struct Together {
    pub(super) buffer: Value,
    pub(super) item: i128,
    pub(super) from: Option<Vec<u64>>,
}

/// A copy to global memory, and what it reads: each element by which thread.
pub(super) struct Drain {
    pub(super) source: Source,
    /// The first warp of the team that begins it.
    pub(super) team: usize,
    pub(super) reads: Vec<(u32, Range<u64>)>,
}

/// What a slot holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) item: i128,
    pub(super) state: State,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    /// Its fill had a condition that did not hold.
    Skipped,
    InFlight,
    Landed,
    Released,
}

/// A fill of a slot: each thread, the bytes that it writes, and what to.
pub(super) struct Copy {
    pub(super) source: Source,
    pub(super) slot: u32,
    pub(super) writes: Vec<(u32, Range<u64>, u64)>,
}

/// How far a block of a cluster is, and what it was sent.
#[derive(Default)]
pub(super) struct Mailbox {
    /// Whether it has said that it runs, and whether it has waited for the others to say so.
    pub(super) arrived: bool,
    pub(super) waited: bool,
    /// The messages to each buffer, by the block that sent them; nothing of those that were received.
    pub(super) sent: HashMap<Value, Vec<Message>>,
    pub(super) received: HashSet<Value>,
}

/// What a block has sent to a buffer: bytes of shared memory, and elements.
pub(super) struct Message {
    pub(super) from: u32,
    pub(super) writes: Vec<(Range<u64>, u64)>,
}
