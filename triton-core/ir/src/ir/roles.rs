//! Roles: which warps of a block execute what, at stage 2.
//!
//! A function is one stream of instructions, which the interpreter runs in its order. If it has a [`Producer`], warps of their own fill its
//! rings, and run ahead of those that read them as far as there are empty slots; the layouts of tiles are those of the others, the
//! *consumers*. Which instruction is whose follows from the operation. What a role executes is a projection of the stream: its
//! own instructions in their order, the control flow around them, and the scalars that they take, which each role computes for itself. So
//! both come to the same items, and no value passes between them but through a ring. (NVIDIA's CUTLASS calls it warp specialization; Bauer,
//! Cook and Khailany, "CudaDMA: optimizing GPU memory bandwidth via warp specialization", SC 2011.)
//!
//! Consumers may be two *teams* of a warpgroup ([`Function::teams`]), which execute the same code, each with every other program of a block. They
//! take turns at the items of rings: so a team waits for an item when it knows that those before have arrived. To the interpreter, which runs
//! one program after the other, the warps of another team run every other one.

use super::rings::WARPGROUP;
use super::{Block, Function, Inst, Value};
use crate::entity::SideTable;
use crate::ops::{Control, Effect, LayoutRule, Op};
use crate::types::Shape;

/// The fewest registers that `setmaxnreg` can leave a thread, and the most that consumers ask for: two warpgroups of them, and 24 for each
/// thread of the producer, take nearly all that a block can have.
const FEWEST_REGISTERS: u32 = 24;
const MOST_REGISTERS: u32 = 240;

/// The warps that fill rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// One warp.
    Warp,
    /// One warp of a warpgroup that gives its registers to the consumers.
    Warpgroup,
}

impl Producer {
    /// All of them.
    pub const ALL: [Producer; 2] = [Producer::Warp, Producer::Warpgroup];

    /// What the text form calls it.
    pub fn name(self) -> &'static str {
        match self {
            Producer::Warp => "warp",
            Producer::Warpgroup => "warpgroup",
        }
    }

    /// Registers of each thread of a producer, and of each one of this many warps of consumers, where they change hands: `setmaxnreg` counts
    /// in units of 8.
    pub fn registers(self, consumers: u32, of_block: u32) -> Option<[u32; 2]> {
        match self {
            Producer::Warp => None,
            Producer::Warpgroup => {
                let left = of_block / 32 - FEWEST_REGISTERS * self.warps();
                Some([FEWEST_REGISTERS, (left / consumers / 8 * 8).min(MOST_REGISTERS)])
            }
        }
    }

    /// How many there are. One of them works.
    pub fn warps(self) -> u32 {
        match self {
            Producer::Warp => 1,
            Producer::Warpgroup => WARPGROUP,
        }
    }
}

/// What warps of a block do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// They fill rings.
    Producer,
    /// They do all else.
    Consumer,
}

impl Role {
    /// Whose an operation is that does something: `None` of what each role does for itself.
    fn of(op: &Op) -> Option<Role> {
        let waits = op.control().is_some_and(Control::may_wait);
        match op.effect() {
            Effect::Write if matches!(op, Op::RingFill { .. }) => Some(Role::Producer),
            Effect::Write => Some(Role::Consumer),
            Effect::Control if waits => Some(Role::Consumer),
            Effect::Pure | Effect::Read | Effect::Control => None,
        }
    }
}

impl Function {
    /// Threads of a team, among which layouts divide tiles.
    pub fn threads(&self) -> u32 {
        self.num_warps * 32
    }

    /// Warps of a block that multiply: those of all teams.
    pub fn consumer_warps(&self) -> u32 {
        self.teams * self.num_warps
    }

    /// Threads of a block, those of a producer included.
    pub fn block_threads(&self) -> u32 {
        32 * (self.consumer_warps() + self.producer.map_or(0, Producer::warps))
    }

    /// Registers of each thread of a producer, and of each consumer, where they change hands, as of [`Producer::registers`].
    pub fn registers_by_role(&self, of_block: u32) -> Option<[u32; 2]> {
        self.producer.and_then(|of| of.registers(self.consumer_warps(), of_block))
    }

    /// What the warps of a role execute.
    ///
    /// # Errors
    /// A producer that needs a tile, or what consumers do: they do not pass it on.
    pub fn projection(&self, role: Role) -> Result<Function, String> {
        let mut needed = Needed::of(self);
        for inst in self.walk() {
            if Role::of(&self.insts[inst].op) == Some(role) {
                needed.open.push(Part::Inst(inst));
            }
        }
        needed.close();
        let (insts, carried) = (needed.insts, needed.carried);
        let passed = |&inst: &Inst| {
            let data = &self.insts[inst];
            let is_kept = |&v: &Value| data.op.layout_rule() != LayoutRule::Carried || carried[v];
            let is_tile = |&v: &Value| self.ty(v).shape != Shape::SCALAR && !matches!(data.op, Op::SharedAlloc { .. });
            insts[inst] && data.results.iter().filter(|v| is_kept(v)).any(is_tile)
        };
        if role == Role::Producer
            && let Some(tile) = self.walk().iter().find(|inst| passed(inst))
        {
            return Err(format!(
                "what it fills follows from a tile, which `{}` yields",
                self.insts[*tile].op.mnemonic()
            ));
        }
        let mut func = self.clone();
        func.keep(func.body, &insts, &carried);
        // One producer fills for all teams.
        if role == Role::Producer {
            func.teams = 1;
        }
        Ok(func)
    }

    /// Leaves out of a block all other instructions, and all else that loops and branches carry.
    fn keep(&mut self, block: Block, insts: &SideTable<Inst, bool>, carried: &SideTable<Value, bool>) {
        let kept = self.blocks[block].insts.iter().copied();
        self.blocks[block].insts =
            kept.filter(|&inst| insts[inst] || self.insts[inst].op.control() == Some(Control::Yield)).collect();
        for inst in self.blocks[block].insts.clone() {
            let regions = self.insts[inst].regions.clone();
            if self.insts[inst].op.layout_rule() == LayoutRule::Carried {
                let kept: Vec<bool> = self.insts[inst].results.iter().map(|&result| carried[result]).collect();
                let data = &mut self.insts[inst];
                retain_last(&mut data.results, &kept);
                retain_last(&mut data.args, &kept);
                let tested = regions.len().saturating_sub(usize::from(data.op == Op::While {}));
                for (k, &region) in regions.iter().enumerate() {
                    retain_last(&mut self.blocks[region].params, &kept);
                    // The condition of a `while` yields whether it holds, and nothing that is carried.
                    if tested == regions.len() || k > 0 {
                        let end = self.blocks[region].insts.last().copied();
                        end.into_iter().for_each(|end| retain_last(&mut self.insts[end].args, &kept));
                    }
                }
            }
            regions.into_iter().for_each(|region| self.keep(region, insts, carried));
        }
    }
}

/// Keeps of the last items those that are to be kept: a loop's counter comes before what it carries.
fn retain_last<T>(items: &mut Vec<T>, kept: &[bool]) {
    let own = items.len().saturating_sub(kept.len());
    let mut number = 0;
    items.retain(|_| {
        number += 1;
        number <= own || kept.get(number - own - 1).copied().unwrap_or(true)
    });
}

/// A part of a function that may be needed.
#[derive(Clone, Copy)]
enum Part {
    Inst(Inst),
    /// What a loop or a branch carries, by its result.
    Carried(Value),
}

/// Who gives a value.
#[derive(Clone, Copy)]
enum Giver {
    Inst(Inst),
    /// A loop or a branch: the value is its result, the parameter of a region, or, if there is no result, the counter.
    Carried(Inst, Option<Value>),
}

/// What instructions need, and what those need.
struct Needed<'a> {
    func: &'a Function,
    givers: SideTable<Value, Option<Giver>>,
    /// The instruction around each.
    around: SideTable<Inst, Option<Inst>>,
    insts: SideTable<Inst, bool>,
    carried: SideTable<Value, bool>,
    open: Vec<Part>,
}

impl<'a> Needed<'a> {
    fn of(func: &'a Function) -> Needed<'a> {
        let (insts, carried) = (SideTable::new(false), SideTable::new(false));
        let (givers, around) = (SideTable::new(None), SideTable::new(None));
        let mut needed = Needed { func, givers, around, insts, carried, open: Vec::new() };
        for inst in func.walk() {
            let data = &func.insts[inst];
            for &region in &data.regions {
                func.blocks[region].params.iter().for_each(|&v| needed.givers[v] = Some(Giver::Carried(inst, None)));
                func.blocks[region].insts.iter().for_each(|&inside| needed.around[inside] = Some(inst));
            }
            data.results.iter().for_each(|&v| needed.givers[v] = Some(Giver::Inst(inst)));
            for carried in func.carried(data) {
                let given = carried.params.into_iter().flatten().chain([carried.result]);
                given.for_each(|v| needed.givers[v] = Some(Giver::Carried(inst, Some(carried.result))));
            }
        }
        needed
    }

    fn value(&mut self, value: Value) {
        match self.givers[value] {
            Some(Giver::Inst(inst) | Giver::Carried(inst, None)) => self.open.push(Part::Inst(inst)),
            Some(Giver::Carried(inst, Some(result))) => self.open.extend([Part::Inst(inst), Part::Carried(result)]),
            // A parameter of the function.
            None => {}
        }
    }

    fn close(&mut self) {
        let func = self.func;
        while let Some(part) = self.open.pop() {
            match part {
                Part::Inst(inst) if !std::mem::replace(&mut self.insts[inst], true) => {
                    let data = &func.insts[inst];
                    self.open.extend(self.around[inst].map(Part::Inst));
                    if data.op.layout_rule() != LayoutRule::Carried {
                        // A reduction with what it combines by.
                        let inside = data.regions.iter().flat_map(|&region| &func.blocks[region].insts);
                        self.open.extend(inside.map(|&inst| Part::Inst(inst)));
                        data.for_each_operand(|v| self.value(v));
                        continue;
                    }
                    data.op.for_each_operand(|v| self.value(v));
                    // Whether a `while` goes on.
                    if data.op == (Op::While {}) {
                        func.yielded(data.regions[0]).iter().for_each(|&v| self.value(v));
                    }
                }
                Part::Carried(result) if !std::mem::replace(&mut self.carried[result], true) => {
                    let Some(Giver::Carried(inst, _)) = self.givers[result] else { continue };
                    let of = func.carried(&func.insts[inst]).find(|of| of.result == result);
                    of.into_iter().for_each(|of| {
                        of.init.into_iter().chain(of.yields.into_iter().flatten()).for_each(|v| self.value(v));
                    });
                }
                Part::Inst(_) | Part::Carried(_) => {}
            }
        }
    }
}
