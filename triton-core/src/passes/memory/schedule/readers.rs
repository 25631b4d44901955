//! Which products of a loop read a buffer.

use crate::hash::WordMap;
use crate::ir::{Block, Function, Inst, Value, in_flight};
use crate::ops::Op;

/// By the buffers of a loop's body, the products that read them, be it through an alias, in order.
pub(super) struct Readers {
    products: WordMap<Value, Vec<Inst>>,
    /// By a product, the wait for it.
    waits: WordMap<Inst, Inst>,
}

impl Readers {
    /// Those of a block itself.
    pub fn of(func: &Function, region: Block) -> Readers {
        let mut readers = Readers { products: WordMap::default(), waits: WordMap::default() };
        let mut aliases: WordMap<Value, Value> = WordMap::default();
        let mut sums: WordMap<Value, Inst> = WordMap::default();
        for &inst in &func.blocks[region].insts {
            let data = &func.insts[inst];
            if let (Some((x, _)), &[alias]) = (func.aliased(data), &data.results[..]) {
                aliases.insert(alias, aliases.get(&x).copied().unwrap_or(x));
            } else if in_flight::is_product(&data.op) {
                sums.extend(data.results.iter().map(|&sum| (sum, inst)));
                for (operand, _) in func.shared_operands(&data.op) {
                    let buffer = aliases.get(&operand).copied().unwrap_or(operand);
                    readers.products.entry(buffer).or_default().push(inst);
                }
            } else if let Op::DotWait { sum } = data.op
                && let Some(&product) = sums.get(&sum)
            {
                readers.waits.insert(product, inst);
            }
        }
        readers
    }

    /// The products that read a buffer.
    pub fn products(&self, buffer: Value) -> &[Inst] {
        self.products.get(&buffer).map_or(&[], Vec::as_slice)
    }

    /// The wait after which none of them goes on, if each is waited for in the block.
    pub fn last_wait(&self, func: &Function, region: Block, buffer: Value) -> Option<Inst> {
        let waits: Option<Vec<Inst>> = self.products(buffer).iter().map(|of| self.waits.get(of).copied()).collect();
        let waits = waits?;
        func.blocks[region].insts.iter().rev().find(|inst| waits.contains(inst)).copied()
    }
}
