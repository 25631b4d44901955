//! Sums of products by `wgmma`, at stage 2: until it is waited for, a product adds to registers, which nothing else may touch.
//!
//! A sum in flight is taken by another product, which adds to the same registers, and is carried by the loop whose parameter they are:
//! neither moves it. Waits count products, so that of each sum it is known how many products began after its own, at the least: a wait for
//! all but the newest `n` ends those with `n` or more. Where branches meet, and over back edges, the fewest count.

use crate::entity::SideTable;
use crate::ir::{Block, Carried, Function, Inst, InstData, Value};
use crate::ops::{DotKind, Op};
use crate::types::Stage;

/// The sums in flight, each with how many products began after its own, at the least.
type Sums = Vec<(Value, u32)>;

/// Where a rule is broken, and how.
type Broken = (Inst, String);

/// Checks a function whose values are defined before their uses.
pub(super) fn check(func: &Function) -> Result<(), Broken> {
    let is_product = |op: &Op| matches!(op, Op::Dot { kind: DotKind::Wgmma, .. });
    if func.stage != Stage::Synchronized || !func.contains(func.body, is_product) {
        return Ok(());
    }
    let mut uses = SideTable::new(0u32);
    func.walk().into_iter().for_each(|inst| func.insts[inst].for_each_operand(|v| uses[v] += 1));
    Checker { func, uses, registers: SideTable::new(None) }.block(func.body, Vec::new()).map(drop)
}

struct Checker<'a> {
    func: &'a Function,
    uses: SideTable<Value, u32>,
    /// Of a sum, the value whose registers it is in, if not those of its own.
    registers: SideTable<Value, Option<Value>>,
}

impl Checker<'_> {
    /// The sums in flight at the end of a block, by those at its start.
    fn block(&mut self, block: Block, mut sums: Sums) -> Result<Sums, Broken> {
        let func = self.func;
        // What a product adds to in place, if nothing else takes it.
        let mut own = func.blocks[block].params.clone();
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if let Op::Dot { kind: DotKind::Wgmma, a, b, acc } = data.op {
                let in_place = own.contains(&acc) && self.uses[acc] == 1;
                let taken: &[Value] = if in_place { &[a, b] } else { &[a, b, acc] };
                taken.iter().try_for_each(|&v| is_done(&sums, inst, v))?;
                sums.iter_mut().for_each(|(_, newer)| *newer += 1);
                for &sum in &data.results {
                    self.registers[sum] = in_place.then(|| self.registers[acc].unwrap_or(acc));
                    own.push(sum);
                    meet(&mut sums, (sum, 0));
                }
            } else if let Op::DotWait { pending } = data.op {
                sums.retain(|&(_, newer)| newer < pending);
            } else if data.op != (Op::Yield {}) {
                let mut operands = Vec::new();
                data.for_each_operand(|v| operands.push(v));
                operands.into_iter().try_for_each(|v| is_done(&sums, inst, v))?;
                if !data.regions.is_empty() {
                    sums = self.regions(inst, data, sums)?;
                }
            }
        }
        Ok(sums)
    }

    /// The sums in flight after a branch or a loop.
    fn regions(&mut self, inst: Inst, data: &InstData, before: Sums) -> Result<Sums, Broken> {
        let func = self.func;
        let carried: Vec<Carried> = func.carried(data).collect();
        if matches!(data.op, Op::If { .. }) {
            let mut after = Sums::new();
            for &region in &data.regions {
                let end = self.block(region, before.clone())?;
                func.yielded(region).iter().try_for_each(|&v| is_done(&end, inst, v))?;
                end.into_iter().for_each(|sum| meet(&mut after, sum));
            }
            return Ok(after);
        }
        // A condition is before the body, and the last to run.
        let mut head = before;
        loop {
            let (mut end, mut exit) = (head.clone(), None);
            for &region in &data.regions {
                end = self.block(region, end)?;
                exit.get_or_insert_with(|| end.clone());
            }
            let mut next = head.clone();
            for Carried { params, yields, .. } in &carried {
                for &value in yields.iter().flatten() {
                    let Some(&(_, newer)) = end.iter().find(|&&(sum, _)| sum == value) else { continue };
                    // In other registers it would be copied.
                    if !params.contains(&Some(self.registers[value].unwrap_or(value))) {
                        is_done(&end, inst, value)?;
                    }
                    params.iter().flatten().for_each(|&param| meet(&mut next, (param, newer)));
                }
            }
            end.into_iter().for_each(|sum| meet(&mut next, sum));
            if next == head {
                // A `for` may end where it begins, a `while` ends after its condition.
                exit.into_iter().filter(|_| data.op == Op::While {}).flatten().for_each(|sum| meet(&mut next, sum));
                for Carried { result, params, .. } in carried {
                    let param = next.iter().find(|&&(sum, _)| params.contains(&Some(sum))).copied();
                    param.into_iter().for_each(|(_, newer)| meet(&mut next, (result, newer)));
                }
                return Ok(next);
            }
            head = next;
        }
    }
}

/// A value that is used is not a sum in flight.
fn is_done(sums: &Sums, inst: Inst, value: Value) -> Result<(), Broken> {
    if sums.iter().any(|&(sum, _)| sum == value) {
        return Err((inst, format!("{value} is the sum of a product in flight, which no `dot.wait` has ended")));
    }
    Ok(())
}

/// Adds a sum in flight.
fn meet(sums: &mut Sums, (value, newer): (Value, u32)) {
    match sums.iter_mut().find(|(sum, _)| *sum == value) {
        Some((_, known)) => *known = newer.min(*known),
        None => sums.push((value, newer)),
    }
}
