//! What an operation does that others have to know of, beside its [access to memory](super::Access): which of its blocks run, what it does
//! to a ring, who reads its operands in shared memory, and what it orders. Each is one exhaustive answer: a new operation is a missing
//! arm here, not a barrier, a fence or a byte that is missing in code. Of an operation of a ring, [`Op::ring`] has all answers.

use super::memory::AccessEffect;
use super::{DotKind, Location, MemoryOrder, Op};
use super::{beside_rings, computes, controls, ring_ops, shared_ops, synchronizes};
use crate::types::{RingId, Value};

/// What control flow an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Its block runs for each number from a start up to before an end, a step apart.
    For([Value; 3]),
    /// Its second block runs while its first one yields true.
    While,
    /// Its first block runs if this holds, else its second one.
    If(Value),
    /// It ends a block.
    Yield,
}

impl Control {
    /// Whether its blocks may run more than once.
    pub fn repeats(self) -> bool {
        match self {
            Control::For(_) | Control::While => true,
            Control::If(_) | Control::Yield => false,
        }
    }

    /// Whether it may run until another program has done something.
    pub fn may_wait(self) -> bool {
        match self {
            Control::While => true,
            Control::For(_) | Control::If(_) | Control::Yield => false,
        }
    }
}

/// What an operation does to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingStep {
    /// It begins to fill a buffer's slot of an item.
    Fill(Value, Value),
    /// It waits for what fills an item.
    Wait(RingId, Value),
    /// It yields a buffer's slot of an item.
    Slot(Value, Value),
    /// It begins to take a buffer's slot of an item to global memory: bulk copies read the slot from then on, until the item is released,
    /// or the program ends.
    Drain(Value, Value),
    /// It ends the reads of an item.
    Release(RingId, Value),
}

impl RingStep {
    /// What it does with an item, in words.
    pub fn verb(self) -> &'static str {
        match self {
            RingStep::Fill(..) => "fills",
            RingStep::Wait(..) => "waits for",
            RingStep::Slot(..) => "yields",
            RingStep::Drain(..) => "drains",
            RingStep::Release(..) => "releases",
        }
    }

    /// The buffer that it is for, an operand; `None` if it is for those of a [ring](RingStep::ring).
    pub fn buffer(self) -> Option<Value> {
        match self {
            RingStep::Fill(buffer, _) | RingStep::Slot(buffer, _) | RingStep::Drain(buffer, _) => Some(buffer),
            RingStep::Wait(..) | RingStep::Release(..) => None,
        }
    }

    /// The ring that it is for, with all of its buffers; `None` if it is for [one](RingStep::buffer).
    pub fn ring(self) -> Option<RingId> {
        match self {
            RingStep::Wait(ring, _) | RingStep::Release(ring, _) => Some(ring),
            RingStep::Fill(..) | RingStep::Slot(..) | RingStep::Drain(..) => None,
        }
    }
}

/// All that others have to know of a ring's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOp {
    /// What it does to the ring.
    pub step: RingStep,
    /// Who accesses shared memory for it.
    pub agent: Agent,
    /// What it accesses of global memory.
    pub global: Option<(Location, AccessEffect)>,
}

/// Who accesses shared memory for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// The threads, if anything does.
    Threads,
    /// The async proxy, which reads the operands, or the slot, that are there.
    AsyncProxy,
    /// What fills the ring of a buffer: threads or the async proxy.
    OfRing(Value),
}

impl Op {
    /// The control flow that it is, if it is any.
    pub fn control(&self) -> Option<Control> {
        match *self {
            Op::For { start, end, step } => Some(Control::For([start, end, step])),
            Op::While {} => Some(Control::While),
            Op::If { cond } => Some(Control::If(cond)),
            Op::Yield {} => Some(Control::Yield),
            computes!() | synchronizes!() | shared_ops!() | ring_ops!() => None,
            Op::Dot { .. } | Op::Load { .. } | Op::Store { .. } => None,
            Op::Atomic { .. } | Op::AtomicCas { .. } | Op::Fence {} => None,
            Op::Assert { .. } | Op::Print { .. } => None,
        }
    }

    /// What it is of a ring, if it is of one.
    pub fn ring(&self) -> Option<RingOp> {
        let by_threads = |step: RingStep| Some(RingOp { step, agent: Agent::Threads, global: None });
        match *self {
            Op::RingFill { buffer, item, from, .. } => Some(RingOp {
                step: RingStep::Fill(buffer, item),
                agent: Agent::OfRing(buffer),
                global: Some((from, AccessEffect::Read)),
            }),
            Op::RingWait { ring, item } => by_threads(RingStep::Wait(ring, item)),
            Op::RingSlot { buffer, item } => by_threads(RingStep::Slot(buffer, item)),
            Op::RingDrain { buffer, item, to } => Some(RingOp {
                step: RingStep::Drain(buffer, item),
                agent: Agent::AsyncProxy,
                global: Some((to, AccessEffect::Write)),
            }),
            Op::RingRelease { ring, item, .. } => by_threads(RingStep::Release(ring, item)),
            beside_rings!() => None,
        }
    }

    /// What it does to a ring, if it does anything.
    pub fn ring_step(&self) -> Option<RingStep> {
        self.ring().map(|of| of.step)
    }

    /// The buffer and the item of the slot that it begins to take to global memory, and where to, if it does.
    pub fn takes(&self) -> Option<(Value, Value, Location)> {
        let RingOp { step: RingStep::Drain(buffer, item), global: Some((to, _)), .. } = self.ring()? else {
            return None;
        };
        Some((buffer, item, to))
    }

    /// Who accesses shared memory for it.
    pub fn agent(&self) -> Agent {
        match *self {
            Op::Dot { kind: DotKind::Wgmma, .. } => Agent::AsyncProxy,
            ring_ops!() => self.ring().map_or(Agent::Threads, |of| of.agent),
            beside_rings!() => Agent::Threads,
        }
    }

    /// What it orders of its program's accesses to global memory.
    pub fn order(&self) -> MemoryOrder {
        match *self {
            Op::Atomic { order, .. } | Op::AtomicCas { order, .. } => order,
            Op::Fence {} => MemoryOrder::AcqRel,
            computes!() | controls!() | synchronizes!() | shared_ops!() | ring_ops!() => MemoryOrder::Relaxed,
            Op::Dot { .. } | Op::Load { .. } | Op::Store { .. } => MemoryOrder::Relaxed,
            Op::Assert { .. } | Op::Print { .. } => MemoryOrder::Relaxed,
        }
    }
}
