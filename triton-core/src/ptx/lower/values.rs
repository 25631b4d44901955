//! The registers of values.
//!
//! - A value's registers hold wherever the value may be used: it is defined before, in the same block or in one around it.
//! - What a loop carries is in registers that the end of each turn writes. They are those of the loop's parameters, and
//!   after it of its results.
//! - [`Reg::NONE`] is for what nothing reads, and for what is computed only where it is read: in a cold path.
//! - A cold path keeps what it has computed for itself until it ends. A branch inside it keeps its own until that
//!   branch ends: the code after
//!   the branch may come without it. A cold path inside another one begins with nothing.

use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::Value;
use crate::ptx::Reg;

/// Registers by value; and in a cold path, by value and number of the register.
pub(crate) struct Values {
    regs: SideTable<Value, Vec<Reg>>,
    cold: Cold,
}

/// What a cold path has computed for itself; `None` elsewhere.
pub(crate) type Cold = Option<WordMap<(Value, usize), Reg>>;

impl Values {
    /// Of no value.
    pub fn new() -> Values {
        Values { regs: SideTable::new(Vec::new()), cold: None }
    }

    /// One register of a value, where it has been computed.
    pub fn register(&self, value: Value, number: usize) -> Option<Reg> {
        let known = self.regs[value].get(number).copied().filter(|&reg| reg != Reg::NONE);
        known.or_else(|| self.cold.as_ref()?.get(&(value, number)).copied())
    }

    /// Whether what is emitted is a cold path.
    pub fn is_cold(&self) -> bool {
        self.cold.is_some()
    }

    /// Has the cold path keep what it has computed.
    pub fn keep(&mut self, value: Value, number: usize, reg: Reg) {
        if let Some(cold) = &mut self.cold {
            cold.insert((value, number), reg);
        }
    }

    /// Those of a value, one for each that a thread holds of it.
    pub fn of(&self, value: Value) -> &[Reg] {
        &self.regs[value]
    }

    pub fn set(&mut self, value: Value, regs: Vec<Reg>) {
        self.regs[value] = regs;
    }

    /// Begins a cold path. Returns what is known around it.
    pub fn begin_cold(&mut self) -> Cold {
        self.cold.replace(WordMap::default())
    }

    /// What is known before a branch.
    pub fn known(&self) -> Cold {
        self.cold.clone()
    }

    /// Ends a cold path or a branch: only what was known before it is known after it.
    pub fn end(&mut self, before: Cold) {
        self.cold = before;
    }
}
