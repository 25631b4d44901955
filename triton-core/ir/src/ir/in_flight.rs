//! Products by `wgmma` that go on while the code does, at stage 2: whose sums they are, and how many began after one when it is waited for.
//!
//! Waits name a sum ([`Op::DotWait`]). The hardware counts: products are done in the order in which they began, and a
//! wait is for all but the newest few (PTX ISA, "wgmma.wait_group"). Where branches meet, and over back edges, the
//! fewest count, so that a wait is never too short.

use super::{Block, Carried, Function, InstData, Value};
use crate::entity::SideTable;
use crate::ops::{Agent, Op};

/// See the [module's page](self).
pub struct InFlight {
    /// The sums of products in flight: their results, and what carries one from a turn of a loop to the next.
    pub sums: SideTable<Value, bool>,
    /// Of what a wait yields, how many products have begun after its own, at the least; `None` where that is done.
    pub newer: SideTable<Value, Option<u32>>,
}

/// The sums in flight, each with how many products began after its own, at the least.
type Sums = Vec<(Value, u32)>;

impl InFlight {
    /// Those of a function at stage 2.
    pub fn of(func: &Function) -> InFlight {
        let mut in_flight = InFlight { sums: SideTable::new(false), newer: SideTable::new(None) };
        if func.contains(func.body, is_product) {
            in_flight.block(func, func.body, Sums::new());
        }
        in_flight
    }

    /// The sums in flight at the end of a block, by those at its start.
    fn block(&mut self, func: &Function, block: Block, mut sums: Sums) -> Sums {
        for (_, data) in func.block(block) {
            if is_product(&data.op) {
                sums.iter_mut().for_each(|(_, newer)| *newer += 1);
                for &sum in &data.results {
                    self.sums[sum] = true;
                    meet(&mut sums, (sum, 0));
                }
            } else if let Op::DotWait { sum } = data.op {
                let found = sums.iter().find(|&&(other, _)| other == sum).map(|&(_, newer)| newer);
                data.results.iter().for_each(|&result| self.newer[result] = found);
                sums.retain(|&(_, newer)| found.is_none_or(|done| newer < done));
            } else if !data.regions.is_empty() {
                sums = self.regions(func, data, sums);
            }
        }
        sums
    }

    /// The sums in flight after a branch or a loop.
    fn regions(&mut self, func: &Function, data: &InstData, before: Sums) -> Sums {
        if matches!(data.op, Op::If { .. }) {
            let mut after = Sums::new();
            for &region in &data.regions {
                self.block(func, region, before.clone()).into_iter().for_each(|sum| meet(&mut after, sum));
            }
            return after;
        }
        let carried: Vec<Carried> = func.carried(data).collect();
        // A condition is before the body, and the last to run.
        let mut head = before;
        loop {
            let (mut end, mut exit) = (head.clone(), None);
            for &region in &data.regions {
                end = self.block(func, region, end);
                exit.get_or_insert_with(|| end.clone());
            }
            let mut next = head.clone();
            for Carried { params, yields, .. } in &carried {
                for &value in yields.iter().flatten() {
                    let Some(&(_, newer)) = end.iter().find(|&&(sum, _)| sum == value) else { continue };
                    for &param in params.iter().flatten() {
                        self.sums[param] = true;
                        meet(&mut next, (param, newer));
                    }
                }
            }
            end.into_iter().for_each(|sum| meet(&mut next, sum));
            if next != head {
                head = next;
                continue;
            }
            // A `for` may end where it begins, a `while` ends after its condition.
            exit.into_iter().filter(|_| data.op == Op::While {}).flatten().for_each(|sum| meet(&mut next, sum));
            for Carried { result, params, .. } in carried {
                let param = next.iter().find(|&&(sum, _)| params.contains(&Some(sum))).copied();
                if let Some((_, newer)) = param {
                    self.sums[result] = true;
                    meet(&mut next, (result, newer));
                }
            }
            return next;
        }
    }
}

/// Whether an operation is a product that goes on.
pub fn is_product(op: &Op) -> bool {
    matches!(op, Op::Dot { .. }) && op.agent() == Agent::AsyncProxy
}

/// The sums to whose registers a product adds: a parameter of its block, another sum there, or what a wait for one
/// yields, that nothing else takes. A wait whose result is unused takes none.
pub fn lent(func: &Function) -> SideTable<Value, bool> {
    // The block of each parameter of a region and of each sum, and how often a value is taken.
    let mut homes: SideTable<Value, Option<Block>> = SideTable::new(None);
    let (mut uses, mut products, mut waits) = (SideTable::new(0u32), Vec::new(), Vec::new());
    let mut open = vec![func.body];
    while let Some(block) = open.pop() {
        func.blocks[block].params.iter().for_each(|&param| homes[param] = Some(block));
        for (_, data) in func.block(block) {
            open.extend(&data.regions);
            data.for_each_operand(|v| uses[v] += 1);
            if let Op::Dot { acc, .. } = data.op {
                products.push((block, acc));
                data.results.iter().for_each(|&sum| homes[sum] = Some(block));
            } else if let Op::DotWait { sum } = data.op {
                data.results.iter().for_each(|&done| homes[done] = Some(block));
                waits.extend(data.results.iter().map(|&done| (sum, done)));
            }
        }
    }
    for (sum, done) in waits {
        uses[sum] -= u32::from(uses[done] == 0);
    }
    let mut lent = SideTable::new(false);
    products.into_iter().for_each(|(block, acc)| lent[acc] = homes[acc] == Some(block) && uses[acc] == 1);
    lent
}

/// Adds a sum in flight.
fn meet(sums: &mut Sums, (value, newer): (Value, u32)) {
    match sums.iter_mut().find(|(sum, _)| *sum == value) {
        Some((_, known)) => *known = newer.min(*known),
        None => sums.push((value, newer)),
    }
}
