//! Liveness: the interval of the program in which each value is live.
//!
//! Instructions are numbered in the order of the text, from 1. A value is live from the number of its definition to that of its last
//! use: the live intervals of linear-scan register allocation (Poletto and Sarkar, TOPLAS 1999). What an operation with regions takes,
//! and what they use from outside, lives until its last instruction: the next iteration of a loop needs it again. Initial values of what is
//! carried do not.

use crate::entity::SideTable;
use crate::ir::{Block, Function, Inst, Value};
use crate::ops::{LayoutRule, Op, RingStep};

/// Where a value is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveInterval {
    /// The number of its definition: of what an operation with regions yields, that of its last instruction; of a parameter of a
    /// region, that of the operation; 0 of a parameter of the function.
    pub start: u32,
    /// The number of its last use; `start` if there is none.
    pub last: u32,
}

/// See the [module's page](self).
pub struct Liveness {
    /// The interval of each value.
    pub intervals: SideTable<Value, LiveInterval>,
    /// Where a value is not live inside its interval: in the first branch of an `if` behind its last use there, if it dies in the other one.
    /// The interval without the first number.
    pub holes: Vec<(Value, LiveInterval)>,
    /// The number of each instruction, and of the last one inside it.
    pub numbers: SideTable<Inst, (u32, u32)>,
    /// The largest number.
    pub last: u32,
}

/// The liveness of a function's values. Those with an alias take no part: a use of one is a use of its alias, which is in the same
/// registers.
pub fn analyse(func: &Function, alias: &SideTable<Value, Option<Value>>) -> Liveness {
    let interval = LiveInterval { start: 0, last: 0 };
    let liveness =
        Liveness { intervals: SideTable::new(interval), holes: Vec::new(), numbers: SideTable::new((0, 0)), last: 0 };
    let mut walk = Walk {
        func,
        alias,
        liveness,
        operands: SideTable::new([None; 2]),
        depth: SideTable::new(0),
        carried_in: Vec::new(),
        branches: Vec::new(),
        dying: Vec::new(),
        drained: Vec::new(),
    };
    walk.block(func.body);
    let Walk { mut liveness, dying, drained, .. } = walk;
    drained.into_iter().for_each(|buffer| liveness.intervals[buffer].last = liveness.last);
    let dies =
        |&(value, _, inst): &(Value, LiveInterval, Inst)| liveness.intervals[value].last <= liveness.numbers[inst].1;
    liveness.holes = dying.into_iter().filter(dies).map(|(value, hole, _)| (value, hole)).collect();
    liveness
}

struct Walk<'a> {
    func: &'a Function,
    alias: &'a SideTable<Value, Option<Value>>,
    liveness: Liveness,
    /// Of sums, what the product multiplies.
    operands: SideTable<Value, [Option<Value>; 2]>,
    /// How many blocks are around a value's definition.
    depth: SideTable<Value, usize>,
    /// For each block around the walk, what its current instruction uses of the values defined there.
    carried_in: Vec<Vec<Value>>,
    /// Each `if` around the walk that is in its second branch, with the first branch.
    branches: Vec<(Inst, LiveInterval)>,
    /// A hole in the first branch of an `if`, in case the value dies in the second one.
    dying: Vec<(Value, LiveInterval, Inst)>,
    /// Buffers that bulk copies may read until the function ends.
    drained: Vec<Value>,
}

impl Walk<'_> {
    fn block(&mut self, id: Block) {
        let func = self.func;
        let depth = self.carried_in.len();
        self.carried_in.push(Vec::new());
        for (inst, data) in func.block(id) {
            self.liveness.last += 1;
            let number = self.liveness.last;
            let is_alias = data.results.first().is_some_and(|&v| self.alias[v].is_some());
            if !is_alias {
                data.for_each_operand(|v| self.used(self.alias[v].unwrap_or(v), number));
                // A product in flight reads its operands until it is waited for, those in a ring until they are released.
                if let Op::Dot { a, b, .. } = data.op {
                    data.results.iter().for_each(|&sum| self.operands[sum] = [Some(a), Some(b)]);
                }
                if let Op::DotWait { sum } = data.op {
                    let operands = self.operands[sum].into_iter().flatten();
                    let in_memory = operands.filter(|&v| func.mem(v).is_some());
                    in_memory.for_each(|v| self.used(self.alias[v].unwrap_or(v), number));
                }
                // Until then copies land in the ring's buffers, and products in flight read them. Else the buffer is an operand.
                if let Some(ring) = data.op.ring_step().and_then(RingStep::ring) {
                    func.rings[ring].buffers.iter().for_each(|of| self.used(of.buffer, number));
                }
                self.drained.extend(data.op.takes().map(|(buffer, ..)| buffer));
                let kept = |v: Value| self.carried_in[depth].push(self.alias[v].unwrap_or(v));
                if data.op.layout_rule() == LayoutRule::Carried {
                    // A loop has what it carries in parameters of its own.
                    data.op.for_each_operand(kept);
                } else if !data.regions.is_empty() {
                    data.for_each_operand(kept);
                }
            }
            for (branch, &region) in data.regions.iter().enumerate() {
                func.blocks[region].params.iter().for_each(|&param| self.define(param, number, depth + 1));
                let is_second = branch == 1 && matches!(data.op, Op::If { .. });
                let first = LiveInterval { start: number, last: self.liveness.last };
                self.branches.extend(is_second.then_some((inst, first)));
                self.block(region);
                self.branches.truncate(self.branches.len() - usize::from(is_second));
            }
            let last = self.liveness.last;
            for value in std::mem::take(&mut self.carried_in[depth]) {
                self.used(value, last);
            }
            data.results.iter().for_each(|&result| self.define(result, last, depth));
            self.liveness.numbers[inst] = (number, last);
        }
        self.carried_in.pop();
    }

    fn define(&mut self, value: Value, number: u32, depth: usize) {
        self.liveness.intervals[value] = LiveInterval { start: number, last: number };
        self.depth[value] = depth;
    }

    fn used(&mut self, value: Value, number: u32) {
        let last = &mut self.liveness.intervals[value].last;
        for &(inst, first) in self.branches.iter().filter(|(_, first)| *last < first.last) {
            self.dying.push((value, LiveInterval { start: first.start.max(*last), ..first }, inst));
        }
        *last = number.max(*last);
        let home = self.depth[value];
        // Where the operation is inside others, the outermost one that does not define the value needs it to its end.
        if home + 1 < self.carried_in.len() {
            self.carried_in[home].push(value);
        }
    }
}
