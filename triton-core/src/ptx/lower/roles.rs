//! Lowering of roles: the code of each stands by itself, and warps go to theirs by their number.
//!
//! The consumers are the first warps of a block, whose layouts are those of tiles. Of a producer one thread of the first warp works; the others
//! end at once. Barriers within a role are of its threads alone. Where registers change hands, each role asks for its own at
//! the start: the assembler allocates them in each part up to what that has. (PTX ISA, "setmaxnreg".)

use crate::ir::{Function, Producer, Role};
use crate::metadata::Specialization;
use crate::ptx::code::proxy::Proxy;
use crate::ptx::lower::Lower;
use crate::ptx::lower::analyses::Analyses;
use crate::ptx::lower::loops::Loops;
use crate::ptx::{Cmp, Op, Ty};

/// What the warps of a role execute, and what is known of it.
pub(crate) struct Part {
    role: Role,
    func: Function,
    analyses: Analyses,
}

impl Part {
    /// Those of a function: none if all warps do all of it.
    pub fn all(func: &Function, promise: Specialization) -> Result<Vec<Part>, String> {
        let roles = if func.producer.is_some() { &[Role::Consumer, Role::Producer][..] } else { &[] };
        let part = |&role: &Role| {
            let func = func.projection(role)?;
            Ok(Part { role, analyses: Analyses::of(&func, promise), func })
        };
        roles.iter().map(part).collect()
    }
}

impl<'a> Lower<'a> {
    /// The code of all roles of a function, or of the function.
    pub fn roles(&mut self, parts: &'a [Part]) -> Result<(), String> {
        let Some(producer) = self.func.producer else {
            self.block(self.func.body)?;
            self.end_drains();
            return Ok(());
        };
        let consumers = self.func.num_warps;
        let registers = producer.registers(consumers, self.target.info().registers);
        let (next, done) = (self.label(), self.label());
        let thread = self.thread();
        let fills = self.setp(Cmp::Ge, Ty::U32, thread, i64::from(32 * consumers));
        self.emit(Op::Bra { label: next, pred: Some(fills), unless: false, uniform: true });
        for part in parts {
            (self.func, self.analyses) = (&part.func, &part.analyses);
            (self.proxy, self.loops) = (Proxy::of(&part.func), Loops::default());
            self.buffers.forget_slot_numbers();
            match part.role {
                Role::Consumer => {
                    if let Some([_, most]) = registers {
                        self.emit(Op::SetMaxRegisters { registers: most, more: true });
                    }
                    self.block(part.func.body)?;
                    self.end_drains();
                    self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: true });
                    self.emit(Op::Label { label: next });
                }
                Role::Producer => {
                    if let Some([fewest, _]) = registers {
                        self.emit(Op::SetMaxRegisters { registers: fewest, more: false });
                    }
                    if producer != Producer::Warp {
                        let rests = self.setp(Cmp::Ge, Ty::U32, thread, i64::from(32 * consumers + 32));
                        self.emit(Op::Bra { label: done, pred: Some(rests), unless: false, uniform: true });
                    }
                    // Its first copy may be in a loop.
                    if self.bulk.meet() {
                        self.emit(Op::ClusterWait);
                    }
                    // One thread alone: see `wait_until_empty`.
                    let elected = self.bulk.issuer();
                    self.emit(Op::Bra { label: done, pred: Some(elected), unless: true, uniform: false });
                    self.block(part.func.body)?;
                }
            }
        }
        self.emit(Op::Label { label: done });
        Ok(())
    }
}
