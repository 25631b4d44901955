//! Lowering of roles: the code of each stands by itself, and warps go to theirs by their number.
//!
//! The consumers are the first warps of a block, whose layouts are those of tiles. Of a producer one thread of the first warp works; the others
//! end at once. Barriers within a role are of its threads alone, or of a team's. Teams execute one code, each with every other program, and
//! take turns by barriers that one team arrives at and the other one waits at. Where registers change hands, each role asks for its own at
//! the start: the assembler allocates them in each part up to what that has. (PTX ISA, "setmaxnreg".)

use crate::ir::{Function, Producer, Role};
use crate::metadata::Specialization;
use crate::ptx::code::proxy::Proxy;
use crate::ptx::lower::Lower;
use crate::ptx::lower::analyses::Analyses;
use crate::ptx::lower::loops::Loops;
use crate::ptx::{Cmp, Op, Opcode, Ty};

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
        let consumers = self.func.consumer_warps();
        let registers = self.func.registers_by_role(self.target.info().registers);
        let (next, done) = (self.label(), self.label());
        let thread = if self.func.teams > 1 { self.thread_of_block() } else { self.thread() };
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
                    self.begin_turns();
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

    /// The first turn is the first team's: the last one passes it on.
    fn begin_turns(&mut self) {
        if self.func.teams > 1 {
            let team = self.team();
            let is_last = self.setp(Cmp::Eq, Ty::U32, team, i64::from(self.func.teams - 1));
            let number = self.mov(Ty::U32, i64::from(self.first_turn()));
            let threads = 2 * self.func.threads();
            self.emit_if(Some(is_last), Op::BarOf { number, threads, arrives: true });
        }
    }

    /// Waits for the turn of the thread's team, at a barrier of the team and the one before it.
    pub fn turn_wait(&mut self) {
        let (team, first) = (self.team(), i64::from(self.first_turn()));
        let number = self.arith(Opcode::Add, Ty::S32, &[team.into(), first.into()]);
        self.emit(Op::BarOf { number, threads: 2 * self.func.threads(), arrives: false });
    }

    /// Passes the turn on to the other team.
    pub fn turn_pass(&mut self) {
        let (team, first) = (self.team(), i64::from(self.first_turn()));
        let other = self.arith(Opcode::Xor, Ty::B32, &[team.into(), 1.into()]);
        let number = self.arith(Opcode::Add, Ty::S32, &[other.into(), first.into()]);
        self.emit(Op::BarOf { number, threads: 2 * self.func.threads(), arrives: true });
    }

    /// A barrier of the thread's team.
    pub fn team_barrier(&mut self, threads: u32) {
        let team = self.team();
        let number = self.arith(Opcode::Add, Ty::S32, &[team.into(), 1.into()]);
        self.emit(Op::BarOf { number, threads, arrives: false });
    }

    /// The number of the barrier of the first team's turns: behind that of the block, and those of teams.
    fn first_turn(&self) -> u32 {
        1 + self.func.teams
    }
}
