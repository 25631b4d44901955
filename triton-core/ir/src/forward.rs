//! Forward data-flow over structured control flow: facts of every value, from those of the operands.
//!
//! One walk in the order of the program. A branch joins what its regions yield. A loop starts from the facts of its initial
//! values and is walked until what its body yields no longer weakens them: a lattice of finite height ends that (Kildall, "A unified
//! approach to global program optimization", POPL 1973).

use crate::entity::SideTable;
use crate::ir::{Block, Carried, Function, InstData, Value};
use crate::ops::{LayoutRule, Op};

/// An analysis: a lattice, and how operations transfer it.
pub trait Analysis {
    /// What is known of a value.
    type Fact: Copy + PartialEq;

    /// The join: what holds of a value that is one of two.
    fn join(a: Self::Fact, b: Self::Fact) -> Self::Fact;

    /// The fact of the counter of a loop, from those of its start, its end and its step.
    fn counter(&self, start: Self::Fact, end: Self::Fact, step: Self::Fact) -> Self::Fact;

    /// The fact of a result of an operation that is not control flow.
    fn transfer(&self, inst: &InstData, result: Value, facts: &SideTable<Value, Self::Fact>) -> Self::Fact;
}

/// The facts of every value; those of the parameters are given.
pub fn forward<A: Analysis>(
    func: &Function,
    analysis: &A,
    parameters: SideTable<Value, A::Fact>,
) -> SideTable<Value, A::Fact> {
    let mut walk = Walk { func, analysis, facts: parameters };
    walk.block(func.body);
    walk.facts
}

struct Walk<'a, A: Analysis> {
    func: &'a Function,
    analysis: &'a A,
    facts: SideTable<Value, A::Fact>,
}

impl<A: Analysis> Walk<'_, A> {
    fn block(&mut self, id: Block) {
        for (_, inst) in self.func.block(id) {
            match inst.op.layout_rule() {
                LayoutRule::Carried => self.control(inst),
                LayoutRule::Unconstrained | LayoutRule::Elementwise | LayoutRule::ShapeChange | LayoutRule::Own => {
                    for &result in &inst.results {
                        self.facts[result] = self.analysis.transfer(inst, result, &self.facts);
                    }
                }
            }
        }
    }

    fn control(&mut self, inst: &InstData) {
        let func = self.func;
        if let Op::For { start, end, step } = inst.op {
            let counter = func.blocks[inst.regions[0]].params[0];
            let [start, end, step] = [start, end, step].map(|v| self.facts[v]);
            self.facts[counter] = self.analysis.counter(start, end, step);
        }
        // Of a loop the facts that hold at first; a branch carries nothing in.
        let mut carried: Vec<Option<A::Fact>> = func.carried(inst).map(|c| c.init.map(|v| self.facts[v])).collect();
        loop {
            for (position, &fact) in func.carried(inst).zip(&carried) {
                for param in position.params.into_iter().flatten() {
                    if let Some(fact) = fact {
                        self.facts[param] = fact;
                    }
                }
            }
            inst.regions.iter().for_each(|&region| self.block(region));
            let join = |position: Carried, fact: &Option<A::Fact>| {
                let yielded = position.yields.into_iter().flatten().map(|v| self.facts[v]);
                fact.iter().copied().chain(yielded).reduce(A::join)
            };
            let next: Vec<Option<A::Fact>> = func.carried(inst).zip(&carried).map(|(c, fact)| join(c, fact)).collect();
            let stable = inst.args.is_empty() || next == carried;
            carried = next;
            if stable {
                break;
            }
        }
        for (position, fact) in func.carried(inst).zip(carried) {
            if let Some(fact) = fact {
                self.facts[position.result] = fact;
            }
        }
    }
}
