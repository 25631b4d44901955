//! The def-use table: which instruction defines a value, in which block, and which instructions use it.
//!
//! It is made by one walk over what can run; the uses of a value are a list threaded through the vector of all uses. It is a snapshot. A
//! pass that changes the function while it asks adds its definitions ([`Defs::define`]), or asks only what its changes leave alone.

use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Value};
use crate::ops::Op;
use crate::types::Constant;

/// The end of a list of uses.
const NONE: u32 = u32::MAX;

/// What is known of a value.
#[derive(Clone, Copy)]
struct Entry {
    definition: Option<Inst>,
    /// The block that has it as a result or a parameter.
    home: Option<Block>,
    uses: u32,
    /// Its last use, in [`Defs::uses`].
    last: u32,
}

/// A use of a value.
struct Use {
    user: Inst,
    /// The use of the same value before it.
    before: u32,
}

/// See the [module's page](self).
pub struct Defs {
    values: SideTable<Value, Entry>,
    uses: Vec<Use>,
    homes: SideTable<Inst, Option<Block>>,
}

impl Defs {
    /// Those of a function.
    pub fn of(func: &Function) -> Defs {
        let values = SideTable::new(Entry { definition: None, home: None, uses: 0, last: NONE });
        let mut defs = Defs { values, uses: Vec::with_capacity(func.types.len()), homes: SideTable::new(None) };
        defs.block(func, func.body);
        defs
    }

    fn block(&mut self, func: &Function, block: Block) {
        for (inst, data) in func.block(block) {
            self.homes[inst] = Some(block);
            data.for_each_operand(|value| {
                let entry = &mut self.values[value];
                let before = std::mem::replace(&mut entry.last, self.uses.len() as u32);
                entry.uses += 1;
                self.uses.push(Use { user: inst, before });
            });
            for &result in &data.results {
                let entry = &mut self.values[result];
                (entry.definition, entry.home) = (Some(inst), Some(block));
            }
            for &region in &data.regions {
                func.blocks[region].params.iter().for_each(|&param| self.values[param].home = Some(region));
                self.block(func, region);
            }
        }
    }

    /// The instruction that defines a value; `None` of parameters, be they the function's or a region's.
    pub fn definition(&self, value: Value) -> Option<Inst> {
        self.values[value].definition
    }

    /// The same, if it is in this block and not around it.
    pub fn definition_in(&self, value: Value, block: Block) -> Option<Inst> {
        self.definition(value).filter(|_| self.home(value) == Some(block))
    }

    /// The operation that defines a value.
    pub fn op(&self, func: &Function, value: Value) -> Option<Op> {
        self.definition(value).map(|inst| func.insts[inst].op)
    }

    /// The number that a value is, if it is a constant.
    pub fn constant(&self, func: &Function, value: Value) -> Option<Constant> {
        if let Op::Const { value } = self.op(func, value)? { Some(value) } else { None }
    }

    /// The block whose instruction or parameter a value is; `None` of the function's parameters.
    pub fn home(&self, value: Value) -> Option<Block> {
        self.values[value].home
    }

    /// The block that an instruction is in; `None` if it cannot run.
    pub fn block_of(&self, inst: Inst) -> Option<Block> {
        self.homes[inst]
    }

    /// How many operands are this value: two of an instruction that names it twice.
    pub fn uses(&self, value: Value) -> u32 {
        self.values[value].uses
    }

    /// Whether one operand is this value, and no other.
    pub fn is_used_once(&self, value: Value) -> bool {
        self.uses(value) == 1
    }

    /// The instructions that use a value, the last one first; one that names it twice is repeated.
    pub fn users(&self, value: Value) -> impl Iterator<Item = Inst> {
        let mut next = self.uses.get(self.values[value].last as usize);
        std::iter::from_fn(move || {
            let found = next?;
            next = self.uses.get(found.before as usize);
            Some(found.user)
        })
    }

    /// The one instruction that uses a value, if it does so once.
    pub fn only_user(&self, value: Value) -> Option<Inst> {
        self.users(value).next().filter(|_| self.is_used_once(value))
    }

    /// Adds the definition of a value by an instruction that a pass has made. Its uses are not counted.
    pub fn define(&mut self, value: Value, inst: Inst) {
        self.values[value].definition = Some(inst);
    }
}
