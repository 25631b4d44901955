//! What an operation does to memory: one answer for barrier insertion, the interpreter's race detection, layout assignment and the
//! estimate of registers. A new operation is a missing arm here, not a barrier that is missing in code.

use super::{Location, Op, computes, controls, ring_ops, synchronizes};
use crate::types::Value;

/// The memory that an operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Global memory.
    Global(Location),
    /// This buffer in shared memory.
    Shared(Value),
}

/// What is done to each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessEffect {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is updated atomically: by one of the threads that hold it.
    Update,
}

/// An operation's access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where.
    pub memory: Memory,
    /// What.
    pub effect: AccessEffect,
    /// The tile whose layout says which threads access which elements; `None` for the result.
    pub tile: Option<Value>,
}

impl Op {
    /// What it does to memory. A product does nothing to it, but reads operands from where they are
    /// ([`Function::shared_operands`](crate::ir::Function::shared_operands)); a fill writes to its ring, besides what it reads, when the
    /// item is waited for ([`Function::access_layout`](crate::ir::Function::access_layout) says which threads make it).
    pub fn access(&self) -> Option<Access> {
        let global = |at: Location, tile: Option<Value>, effect: AccessEffect| {
            let tile = match at {
                Location::Pointers { ptr, .. } => Some(ptr),
                Location::View { .. } => tile,
            };
            Some(Access { memory: Memory::Global(at), effect, tile })
        };
        let shared = |buffer: Value, tile: Option<Value>, effect: AccessEffect| {
            Some(Access { memory: Memory::Shared(buffer), effect, tile })
        };
        match *self {
            Op::Load { from, .. } => global(from, None, AccessEffect::Read),
            Op::Store { to, value } => global(to, Some(value), AccessEffect::Write),
            Op::Atomic { to, value, .. } | Op::AtomicCas { to, value, .. } => {
                global(to, Some(value), AccessEffect::Update)
            }
            Op::SharedStore { buffer, value, .. } => shared(buffer, Some(value), AccessEffect::Write),
            Op::SharedLoad { buffer, .. } | Op::SharedSlice { buffer, .. } => shared(buffer, None, AccessEffect::Read),
            ring_ops!() => self.ring()?.global.and_then(|(at, effect)| global(at, None, effect)),
            computes!() | controls!() | synchronizes!() | Op::SharedAlloc { .. } => None,
            Op::Dot { .. } | Op::Fence {} | Op::Assert { .. } | Op::Print { .. } => None,
        }
    }
}
