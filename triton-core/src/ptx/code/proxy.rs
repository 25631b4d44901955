//! Between what threads do in shared memory and what the async proxy does there: bulk copies, and `wgmma`, which reads its operands.
//!
//! A barrier orders the accesses of threads. What threads did before it comes before what the async proxy does after it only if each
//! thread has written `fence.proxy.async` between. So a barrier follows one if, since the barrier before, threads have accessed bytes that
//! the async proxy accesses, too, or before a loop that they have. (PTX ISA, "Async proxy".)

use crate::entity::SideTable;
use crate::ir::{Block, Function, InstData, Value};
use crate::ops::{Agent, Memory, Op};
use std::ops::Range;

/// What is known of the async proxy. Which bytes it accesses holds for the whole kernel. Whether threads have accessed
/// some is of the current position: a barrier ends it, each branch begins with what held before it, and after both it
/// is what either of them leaves.
pub(crate) struct Proxy {
    /// Of each buffer, slot and alias, whether its bytes are accessed by the async proxy, be it for another buffer.
    shared: SideTable<Value, bool>,
    /// Whether the async proxy accesses anything.
    pub any: bool,
    /// Whether threads may have accessed such bytes since the last barrier.
    touched: bool,
}

impl Proxy {
    pub fn of(func: &Function) -> Proxy {
        let buffer_of = func.buffer_of();
        let mut bytes: SideTable<Value, Range<u64>> = SideTable::new(0..0);
        let mut accessed: Vec<Value> = Vec::new();
        for inst in func.walk() {
            let data = &func.insts[inst];
            if let (Op::SharedAlloc { at, .. }, &[buffer]) = (data.op, &data.results[..]) {
                let first = at.map_or(0, u64::from);
                bytes[buffer] = first..first + func.buffer_bytes(buffer);
                accessed.extend(Some(buffer).filter(|&buffer| func.is_bulk(buffer)));
            } else if let Some((buffer, ..)) = data.op.takes() {
                accessed.push(buffer);
            } else if data.op.agent() == Agent::AsyncProxy {
                let operands = func.shared_operands(&data.op).into_iter();
                accessed.extend(operands.map(|(operand, _)| buffer_of[operand].unwrap_or(operand)));
            }
        }
        let meets = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
        let mut shared = SideTable::new(false);
        for (_, buffer) in func.buffers() {
            shared[buffer] = accessed.iter().any(|&other| meets(&bytes[other], &bytes[buffer]));
        }
        for value in func.defined() {
            if let Some(buffer) = buffer_of[value] {
                shared[value] = shared[buffer];
            }
        }
        let any = !func.tensor_maps().is_empty() || func.contains(func.body, |op| op.agent() == Agent::AsyncProxy);
        Proxy { shared, any, touched: false }
    }

    /// Whether threads access bytes of the async proxy by an instruction.
    fn touches(&self, func: &Function, data: &InstData) -> bool {
        // The async proxy itself reads the operands of `wgmma`.
        let by_threads = match data.op.agent() {
            Agent::OfRing(buffer) => return !func.is_bulk(buffer) && self.shared[buffer],
            Agent::AsyncProxy => false,
            Agent::Threads => true,
        };
        let accessed = data.op.access().and_then(|access| match access.memory {
            Memory::Shared(buffer) => Some(buffer),
            Memory::Global(_) => None,
        });
        let read = func.shared_operands(&data.op).into_iter().filter(|_| by_threads).map(|(operand, _)| operand);
        accessed.into_iter().chain(read).any(|buffer| self.shared[buffer])
    }

    /// What threads do by an instruction comes before a later barrier.
    pub fn touch(&mut self, func: &Function, data: &InstData) {
        self.touched |= self.touches(func, data);
    }

    /// Whether they have at the current position.
    pub fn touched(&self) -> bool {
        self.touched
    }

    /// Before a barrier: whether a fence has to come first. What was done before is fenced then.
    pub fn fence(&mut self) -> bool {
        std::mem::take(&mut self.touched)
    }

    /// Goes back to what held before a branch, for the other branch. Returns what holds at the end of this one.
    pub fn restore(&mut self, before: bool) -> bool {
        std::mem::replace(&mut self.touched, before)
    }

    /// Where another path meets this one, at whose end that held.
    pub fn join(&mut self, other: bool) {
        self.touched |= other;
    }

    /// Whether threads do so inside a block.
    pub fn touches_inside(&self, func: &Function, region: Block) -> bool {
        let mut inside = Vec::new();
        func.blocks[region].insts.iter().for_each(|&inst| func.walk_inst(inst, &mut inside));
        inside.into_iter().any(|inst| self.touches(func, &func.insts[inst]))
    }
}
