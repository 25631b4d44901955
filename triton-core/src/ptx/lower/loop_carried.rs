//! What loops carry for products: sums that they add to in place, and operands as words.

use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::ir::in_flight;
use crate::ir::{Function, Value};
use crate::ops::{self, DotKind};
use crate::types::{DType, Elem};

/// What loops carry for products.
pub(crate) struct LoopCarried {
    /// Sums that a product adds to in place.
    pub sums: SideTable<Value, bool>,
    /// Those of `f32` that are added to by multiplications of single elements.
    pub fused: SideTable<Value, bool>,
    /// Operands that are carried as words of two elements.
    pub words: SideTable<Value, bool>,
}

impl LoopCarried {
    /// Those of a function.
    pub fn of(func: &Function, defs: &Defs) -> LoopCarried {
        let (sums, mut fused) = (in_flight::lent(func), SideTable::new(false));
        for inst in func.walk() {
            if let ops::Op::Dot { kind: DotKind::Fma, acc, .. } = func.insts[inst].op {
                fused[acc] = sums[acc] && func.ty(acc).elem == Elem::Num(DType::F32);
            }
        }
        LoopCarried { sums, fused, words: words(func, defs) }
    }
}

/// Parameters of loops that only tensor cores read, as operands of two elements a word: a loop carries the words. As elements they
/// would be put together again in every turn.
fn words(func: &Function, defs: &Defs) -> SideTable<Value, bool> {
    let (mut multiplied, mut in_words) = (SideTable::new(0), SideTable::new(false));
    let order = func.walk();
    for &inst in &order {
        if let ops::Op::Dot { kind: DotKind::Mma | DotKind::Wgmma, a, b, .. } = func.insts[inst].op {
            [a, b].into_iter().for_each(|v| multiplied[v] += 1);
        } else if let ops::Op::SharedSlice { rest: Some(rest), .. } = func.insts[inst].op {
            // A slice that is loaded under a condition holds what is carried where it is not.
            multiplied[rest] += 1;
        }
    }
    for inst in order.into_iter().filter(|&inst| matches!(func.insts[inst].op, ops::Op::For { .. })) {
        for &param in &func.blocks[func.insts[inst].regions[0]].params {
            let pairs = func.layout(param).is_some_and(|layout| layout.registers() > 1);
            in_words[param] = pairs
                && func.ty(param).elem.bits() == 16
                && multiplied[param] > 0
                && defs.uses(param) == multiplied[param];
        }
    }
    in_words
}
