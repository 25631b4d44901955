//! Reads that may happen earlier, or once more: of memory that nothing writes.
//!
//! The memory of a parameter that a launch reads and does not write is constant: what is reached through other parameters does not
//! overlap it. So what it reads it may read earlier. An access to a view is, beside that, in bounds whatever the index, be it of a tile or,
//! by a gather, through pointers under a mask: it cannot fail for an item of a loop that does not come.

use super::interval::{self, Interval};
use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops::{AccessEffect, Location, Memory};

/// What is written through, and what is reached through which parameter.
pub struct ReadOnly {
    intervals: SideTable<Value, Interval>,
    written: Vec<Value>,
    /// Whether something is written through pointers that may be of any parameter but a view.
    writes_any: bool,
}

impl ReadOnly {
    /// The reads of a function.
    pub fn of(func: &Function) -> ReadOnly {
        let mut found = ReadOnly { intervals: interval::analyse(func), written: Vec::new(), writes_any: false };
        for inst in func.walk() {
            let access = func.insts[inst].op.access().filter(|access| access.effect != AccessEffect::Read);
            if let Some(Memory::Global(at)) = access.map(|access| access.memory) {
                let base = found.base(at);
                found.writes_any |= base.is_none();
                found.written.extend(base);
            }
        }
        found
    }

    /// Whether a location is of memory that nothing writes: a read that is made for certain may be made earlier.
    pub fn is_constant(&self, func: &Function, at: Location) -> bool {
        let is_alone = |base: Value| !self.writes_any || func.view(base).is_some();
        self.base(at).is_some_and(|base| is_alone(base) && !self.written.contains(&base))
    }

    /// Whether a location is of a view that nothing writes: a read may be made even if no one asks for it.
    pub fn contains(&self, func: &Function, at: Location) -> bool {
        self.is_constant(func, at) && self.base(at).is_some_and(|base| func.view(base).is_some())
    }

    /// The parameter that a location is reached through, if it is known.
    fn base(&self, at: Location) -> Option<Value> {
        match at {
            Location::View { base, .. } => Some(base),
            Location::Pointers { ptr, .. } => self.intervals[ptr].base(),
        }
    }
}
