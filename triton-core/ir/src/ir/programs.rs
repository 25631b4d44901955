//! Which programs a block runs.

use super::{Function, Inst, Stage, Value};
use crate::metadata::ProgramMap;
use crate::ops::Op;

impl Function {
    /// The mapping of blocks to programs.
    pub fn program_map(&self) -> ProgramMap {
        match self.peers {
            1 if self.is_persistent() => ProgramMap::Persistent,
            1 => ProgramMap::Identity,
            _ => ProgramMap::Peers,
        }
    }

    /// Whether a block runs one program after the other, as many blocks as are resident together: see `passes::memory::persist`.
    pub fn is_persistent(&self) -> bool {
        self.stage == Stage::Synchronized && self.contains(self.body, |op| matches!(op, Op::BlockId {}))
    }

    /// Whether an instruction is the loop of a persistent function, each of whose turns runs a program.
    pub fn is_over_programs(&self, inst: Inst) -> bool {
        let Op::For { start, .. } = self.insts[inst].op else { return false };
        self.is_block_id(start)
    }

    /// Whether a value is the running block's index.
    pub fn is_block_id(&self, value: Value) -> bool {
        self.block(self.body).any(|(_, data)| data.op == Op::BlockId {} && data.results.contains(&value))
    }
}
