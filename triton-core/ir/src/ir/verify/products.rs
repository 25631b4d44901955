//! Sums of products by `wgmma`, at stage 2: until it is waited for, a product adds to registers, which nothing else may touch.
//!
//! A sum in flight is taken by one product, which adds to the same registers, or carried by the loop whose parameter
//! they are: neither moves it. All else takes what a wait for it yields, unless a product has taken the sum.

use crate::entity::SideTable;
use crate::ir::in_flight::{self, InFlight};
use crate::ir::{Function, Inst, Value};
use crate::ops::Op;
use crate::types::Stage;

/// Where a rule is broken, and how.
type Broken = (Inst, String);

/// Checks a function whose values are defined before their uses.
pub(super) fn check(func: &Function) -> Result<(), Broken> {
    if func.stage != Stage::Synchronized || !func.contains(func.body, in_flight::is_product) {
        return Ok(());
    }
    let (mut added_to, lent) = (SideTable::new(None), in_flight::lent(func));
    for inst in func.walk() {
        if let Op::Dot { acc, .. } = func.insts[inst].op {
            func.insts[inst].results.iter().for_each(|&sum| added_to[sum] = Some(acc).filter(|&acc| lent[acc]));
        }
    }
    let checker = Checker { func, lent, added_to, sums: InFlight::of(func).sums };
    func.walk().into_iter().try_for_each(|inst| checker.instruction(inst))
}

struct Checker<'a> {
    func: &'a Function,
    /// Sums to whose registers a product adds.
    lent: SideTable<Value, bool>,
    /// Of the sum of such a product, the one that it adds to.
    added_to: SideTable<Value, Option<Value>>,
    /// Those in flight.
    sums: SideTable<Value, bool>,
}

impl Checker<'_> {
    fn instruction(&self, inst: Inst) -> Result<(), Broken> {
        let data = &self.func.insts[inst];
        let mut operands = Vec::new();
        if let Op::Dot { a, b, acc, .. } = data.op
            && in_flight::is_product(&data.op)
        {
            operands.extend([Some(a), Some(b), Some(acc).filter(|&acc| !self.lent[acc])].into_iter().flatten());
        } else if !matches!(data.op, Op::DotWait { .. } | Op::Yield {}) {
            // What a region yields, the instruction around it takes.
            data.for_each_operand(|v| operands.push(v));
        }
        operands.into_iter().try_for_each(|v| self.is_done(inst, v))?;
        for of in self.func.carried(data) {
            // In other registers it would be copied.
            let moves = |value: Value| !of.params.contains(&Some(self.registers(value)));
            of.yields.into_iter().flatten().filter(|&v| moves(v)).try_for_each(|v| self.is_done(inst, v))?;
        }
        Ok(())
    }

    /// The value whose registers a sum is in.
    fn registers(&self, mut sum: Value) -> Value {
        while let Some(acc) = self.added_to[sum] {
            sum = acc;
        }
        sum
    }

    /// A value that is used is not a sum in flight.
    fn is_done(&self, inst: Inst, value: Value) -> Result<(), Broken> {
        if self.sums[value] {
            return Err((
                inst,
                format!("{value} is the sum of a product in flight: `dot.wait` yields it when that is done"),
            ));
        }
        Ok(())
    }
}
