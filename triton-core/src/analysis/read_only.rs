//! Reads that may happen earlier, or once more: of views that nothing writes.
//!
//! An access to a view is in bounds whatever the index, be it of a tile or, by a gather, through pointers under a mask: so it cannot fail
//! for an item of a loop that does not come. And the memory of a view that a launch reads and does not write is constant.

use super::interval::{self, Interval};
use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::ops::{AccessEffect, Location, Memory};

/// What is written through, and what is reached through which parameter.
pub struct ReadOnly {
    intervals: SideTable<Value, Interval>,
    written: Vec<Value>,
}

impl ReadOnly {
    /// The reads of a function.
    pub fn of(func: &Function) -> ReadOnly {
        let mut found = ReadOnly { intervals: interval::analyse(func), written: Vec::new() };
        for inst in func.walk() {
            let access = func.insts[inst].op.access().filter(|access| access.effect != AccessEffect::Read);
            if let Some(Memory::Global(at)) = access.map(|access| access.memory) {
                found.written.extend(found.base(at));
            }
        }
        found
    }

    /// Whether a location is of a view that nothing writes.
    pub fn contains(&self, func: &Function, at: Location) -> bool {
        self.base(at).is_some_and(|base| func.view(base).is_some() && !self.written.contains(&base))
    }

    /// The parameter that a location is reached through, if it is known.
    fn base(&self, at: Location) -> Option<Value> {
        match at {
            Location::View { base, .. } => Some(base),
            Location::Pointers { ptr, .. } => self.intervals[ptr].base(),
        }
    }
}
