//! What an operation does that others have to know of, beside its [access to memory](super::Access): which of its blocks run, what it does
//! to a ring, who reads its operands in shared memory, and what it orders. Each is one exhaustive answer: a new operation is a missing
//! arm here, not a barrier, a fence or a byte that is missing in code.

use super::{DotKind, MemoryOrder, Op};
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
    /// It begins to copy a buffer's slot of an item to global memory.
    Drain(Value, Value),
    /// It ends the reads of an item.
    Release(RingId, Value),
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

/// Yields a number or a tile, and does nothing else.
macro_rules! computes {
    () => {
        Op::Const { .. }
            | Op::Outer { .. }
            | Op::ProgramId { .. }
            | Op::NumPrograms { .. }
            | Op::ClusterRank { .. }
            | Op::ClusterGather { .. }
            | Op::ClusterScatter { .. }
            | Op::BlockId { .. }
            | Op::NumBlocks { .. }
            | Op::Arange { .. }
            | Op::Splat { .. }
            | Op::Broadcast { .. }
            | Op::Reshape { .. }
            | Op::Permute { .. }
            | Op::Join { .. }
            | Op::Split { .. }
            | Op::Convert { .. }
            | Op::Cast { .. }
            | Op::Bitcast { .. }
            | Op::Select { .. }
            | Op::Offset { .. }
            | Op::Fold { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. }
            | Op::Hint { .. }
    };
}

/// Is for the threads of a block or for the user: no ring, no memory order, no control flow.
macro_rules! synchronizes {
    () => {
        Op::Assert { .. }
            | Op::Print { .. }
            | Op::SharedAlloc { .. }
            | Op::SharedStore { .. }
            | Op::SharedLoad { .. }
            | Op::SharedSlice { .. }
            | Op::DotWait { .. }
            | Op::TurnWait { .. }
            | Op::TurnPass { .. }
            | Op::ClusterArrive { .. }
            | Op::ClusterWait { .. }
            | Op::ClusterSend { .. }
            | Op::ClusterReceive { .. }
            | Op::Sync { .. }
    };
}

impl Op {
    /// The control flow that it is, if it is any.
    pub fn control(&self) -> Option<Control> {
        match *self {
            Op::For { start, end, step } => Some(Control::For([start, end, step])),
            Op::While {} => Some(Control::While),
            Op::If { cond } => Some(Control::If(cond)),
            Op::Yield {} => Some(Control::Yield),
            computes!() | synchronizes!() => None,
            Op::Dot { .. } | Op::Load { .. } | Op::Store { .. } => None,
            Op::Atomic { .. } | Op::AtomicCas { .. } | Op::Fence {} => None,
            Op::RingFill { .. } | Op::RingWait { .. } | Op::RingSlot { .. } => None,
            Op::RingDrain { .. } | Op::RingRelease { .. } => None,
        }
    }

    /// What it does to a ring, if it does anything.
    pub fn ring_step(&self) -> Option<RingStep> {
        match *self {
            Op::RingFill { buffer, item, .. } => Some(RingStep::Fill(buffer, item)),
            Op::RingWait { ring, item } => Some(RingStep::Wait(ring, item)),
            Op::RingSlot { buffer, item } => Some(RingStep::Slot(buffer, item)),
            Op::RingDrain { buffer, item, .. } => Some(RingStep::Drain(buffer, item)),
            Op::RingRelease { ring, item, .. } => Some(RingStep::Release(ring, item)),
            computes!() | synchronizes!() => None,
            Op::Dot { .. } | Op::Load { .. } | Op::Store { .. } => None,
            Op::Atomic { .. } | Op::AtomicCas { .. } | Op::Fence {} => None,
            Op::For { .. } | Op::While {} | Op::If { .. } | Op::Yield {} => None,
        }
    }

    /// Who accesses shared memory for it.
    pub fn agent(&self) -> Agent {
        match *self {
            Op::Dot { kind: DotKind::Wgmma, .. } => Agent::AsyncProxy,
            Op::RingFill { buffer, .. } => Agent::OfRing(buffer),
            Op::RingDrain { .. } => Agent::AsyncProxy,
            computes!() | synchronizes!() => Agent::Threads,
            Op::Dot { .. } | Op::Load { .. } | Op::Store { .. } => Agent::Threads,
            Op::Atomic { .. } | Op::AtomicCas { .. } | Op::Fence {} => Agent::Threads,
            Op::RingWait { .. } | Op::RingSlot { .. } | Op::RingRelease { .. } => Agent::Threads,
            Op::For { .. } | Op::While {} | Op::If { .. } | Op::Yield {} => Agent::Threads,
        }
    }

    /// What it orders of its program's accesses to global memory.
    pub fn order(&self) -> MemoryOrder {
        match *self {
            Op::Atomic { order, .. } | Op::AtomicCas { order, .. } => order,
            Op::Fence {} => MemoryOrder::AcqRel,
            computes!() | synchronizes!() => MemoryOrder::Relaxed,
            Op::Dot { .. } | Op::Load { .. } | Op::Store { .. } => MemoryOrder::Relaxed,
            Op::RingFill { .. } | Op::RingWait { .. } | Op::RingSlot { .. } => MemoryOrder::Relaxed,
            Op::RingDrain { .. } | Op::RingRelease { .. } => MemoryOrder::Relaxed,
            Op::For { .. } | Op::While {} | Op::If { .. } | Op::Yield {} => MemoryOrder::Relaxed,
        }
    }
}
