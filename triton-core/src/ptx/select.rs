//! Lowering of `select` under the mask of a row's end.
//!
//! Such a mask is a prefix of every run of neighbours, and all that a thread has is in bounds in all warps but those at the end. So a
//! branch decides, as for accesses to memory: on the common path nothing is selected, on the others the first element's mask stands for
//! its run, or every element has its own. More masks than there are predicates would be kept in bits of registers, two instructions for
//! each.

use super::lower::{Lower, class_type};
use super::memory::Path;
use super::run::Run;
use super::{Op, Reg};
use crate::ir::Value;

impl Lower<'_> {
    /// The registers of a selection under a mask that is a prefix of every run.
    pub fn select_runs(&mut self, run: Run, [cond, a, b]: [Value; 3]) -> Result<Vec<Reg>, String> {
        let elem = self.func.ty(a).elem;
        let registers = self.registers(a);
        let mut selected: Vec<Reg> = Vec::new();
        self.on_paths(run, 0..registers, Some(cond), None, |cx, group, path| {
            for (i, first) in group.runs().enumerate() {
                for r in first..first + run.width {
                    let cond = match path {
                        Path::Runs(guards) => guards[i],
                        Path::Elements => Some(cx.element(cond, r)?),
                    };
                    let mut src = cx.element(a, r)?;
                    if let Some(cond) = cond {
                        let b = cx.element(b, r)?;
                        src = cx.select(elem, cond, src, b);
                    }
                    let dst = match selected.get(r) {
                        Some(&dst) => dst,
                        None => cx.reg(src.class),
                    };
                    cx.emit(Op::Mov { ty: class_type(dst.class), dst, src: src.into() });
                    if selected.len() == r {
                        selected.push(dst);
                    }
                }
            }
            Ok(())
        })?;
        Ok(selected)
    }
}
