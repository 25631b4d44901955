//! Lowering of `select` under the mask of a row's end.
//!
//! Such a mask holds for all that a thread has in all warps but those at the end. So a branch decides, by one comparison a row: on the
//! common path nothing is selected, on the other one each element by its own mask. More masks than there are predicates would be kept in
//! bits of registers, two instructions for each.

use crate::ir::Value;
use crate::ptx::code::emitter::class_type;
use crate::ptx::lower::Lower;
use crate::ptx::{Op, Reg};

impl Lower<'_> {
    /// The registers of a selection of which all elements are the first operand's where the condition holds at some registers.
    pub fn select_by_rows(&mut self, ends: Vec<usize>, [cond, a, b]: [Value; 3]) -> Result<Vec<Reg>, String> {
        let elem = self.func.ty(a).elem;
        let branch = self.branch_on_all(cond, ends)?;
        let sources = (0..self.registers(a)).map(|r| self.element(a, r)).collect::<Result<Vec<_>, String>>()?;
        let selected: Vec<Reg> = sources.iter().map(|&src| self.copy(src)).collect();
        self.otherwise(branch);
        self.on_cold_path(|cx| {
            for (r, (&dst, &src)) in selected.iter().zip(&sources).enumerate() {
                let (cond, b) = (cx.element(cond, r)?, cx.element(b, r)?);
                let src = cx.select(elem, cond, src, b);
                cx.emit(Op::Mov { ty: class_type(dst.class), dst, src: src.into() });
            }
            Ok(())
        })?;
        self.join(branch);
        Ok(selected)
    }
}
