//! Lowering of loops and branches.
//!
//! Loop-carried values live in registers of their own, which every iteration updates in place: no copy is left of a
//! value that the loop changes, and an accumulator never moves. Conditions are scalars, the same in all threads, so
//! every branch is uniform.

use crate::ir::{Block, InstData, Value};
use crate::ops::{self, Scope};
use crate::ptx::arithmetic::elementwise::arith_type;
use crate::ptx::code::emitter::{bits_type, class_of_dtype, class_type};
use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Opcode, Operands, Reg, Ty};
use crate::types::Elem;

impl Lower<'_> {
    /// `counter < end` is tested before the first iteration; after that, whether the rest is longer than a step, so
    /// that the counter never wraps.
    pub fn run_for(&mut self, inst: &InstData, start: Value, end: Value, step: Value) -> Result<Vec<Vec<Reg>>, String> {
        let dtype = self.dtype(start)?;
        let ty = arith_type(dtype);
        let unsigned = if dtype.bits() == 64 { Ty::U64 } else { Ty::U32 };
        let step_is_known = self.analyses.facts[step].constant.is_some();
        let by = step;
        let [mut first, end, mut step] = [start, end, step].map(|v| self.regs(v)[0]);
        // A team runs every other program.
        let in_turns = self.func.teams > 1 && self.func.is_block_id(start);
        if in_turns {
            let team = self.team();
            first = self.arith(Opcode::MadLo, ty, &[team.into(), step.into(), first.into()]);
            step = self.arith(Opcode::MulLo, ty, &[step.into(), i64::from(self.func.teams).into()]);
        }
        let region = inst.regions[0];
        let params = self.func.blocks[region].params.clone();
        let in_words: Vec<bool> = params[1..].iter().map(|&param| self.analyses.loop_carried.words[param]).collect();
        let carried = self.carry(inst, &in_words);
        let counter = self.mov(bits_type(dtype), first);
        let (turn, done) = (self.label(), self.label());
        let runs = self.setp(Cmp::Lt, ty, counter, end);
        self.emit(Op::Bra { label: done, pred: Some(runs), unless: true, uniform: true });
        if !step_is_known {
            // A witness: nothing reads it, so that assemblers remove it, and the simulator reports a step that is not
            // positive as a division by zero.
            let positive = self.arith(Opcode::Max, ty, &[step.into(), 0.into()]);
            self.arith(Opcode::Div, ty, &[step.into(), positive.into()]);
        }
        let stepped = if in_turns { Vec::new() } else { self.step_addresses(region, first, by)? };
        let touched = self.proxy.touched();
        self.enter_turns(&[region]);
        self.emit(Op::Label { label: turn });
        self.set(params[0], vec![counter]);
        for ((&param, regs), &in_words) in params[1..].iter().zip(&carried).zip(&in_words) {
            let regs = self.carried(regs, in_words);
            self.set(param, regs);
        }
        self.loops.enter();
        self.block(region)?;
        self.loops.leave();
        // It may not run at all.
        self.proxy.join(touched);
        let yielded = self.func.yielded(region).to_vec();
        self.update(&carried, &yielded);
        self.step(&stepped);
        let rest = self.arith(Opcode::Sub, ty, &[end.into(), counter.into()]);
        let more = self.setp(Cmp::Gt, unsigned, rest, step);
        let srcs = Operands::new(&[counter.into(), step.into()]);
        self.emit(Op::Arith { op: Opcode::Add, ty, dst: counter, srcs });
        self.emit(Op::Bra { label: turn, pred: Some(more), unless: false, uniform: true });
        self.emit(Op::Label { label: done });
        let results = params[1..].iter().zip(&carried).zip(in_words);
        Ok(results.map(|((&param, regs), in_words)| self.left(param, regs, in_words)).collect())
    }

    /// What is carried, after the loop. Sums of `f32` leave it by an addition of −0, which changes no bit: an assembler
    /// would give sums that are stored as vectors neighbouring registers in the loop too, where every other
    /// multiplication then has two operands in one bank of the register file.
    fn left(&mut self, param: Value, regs: &[Reg], in_words: bool) -> Vec<Reg> {
        if !self.analyses.loop_carried.fused[param] {
            return self.carried(regs, in_words);
        }
        let zero = self.mov(Ty::B32, i64::from((-0.0f32).to_bits()));
        regs.iter().map(|&sum| self.arith(Opcode::AddRn, Ty::F32, &[sum.into(), zero.into()])).collect()
    }

    /// The registers of what is carried, of which some may be words of two elements.
    fn carried(&mut self, regs: &[Reg], in_words: bool) -> Vec<Reg> {
        if in_words { regs.iter().flat_map(|&word| self.unpair(word)).collect() } else { regs.to_vec() }
    }

    pub fn run_while(&mut self, inst: &InstData) -> Result<Vec<Vec<Reg>>, String> {
        let [condition, body] = inst.regions[..] else { return Err("a `while` without a body".into()) };
        let carried = self.carry(inst, &vec![false; inst.args.len()]);
        let (turn, done) = (self.label(), self.label());
        let touched = self.proxy.touched();
        self.enter_turns(&[condition, body]);
        self.emit(Op::Label { label: turn });
        for region in [condition, body] {
            for (&param, regs) in self.func.blocks[region].params.iter().zip(&carried) {
                self.set(param, regs.clone());
            }
        }
        self.loops.enter();
        self.block(condition)?;
        let holds = self.regs(self.func.yielded(condition)[0])[0];
        self.emit(Op::Bra { label: done, pred: Some(holds), unless: true, uniform: true });
        self.block(body)?;
        self.loops.leave();
        // It may not run at all.
        self.proxy.join(touched);
        let yielded = self.func.yielded(body).to_vec();
        self.update(&carried, &yielded);
        self.emit(Op::Bra { label: turn, pred: None, unless: false, uniform: true });
        self.emit(Op::Label { label: done });
        Ok(carried)
    }

    /// Before the turns of a loop, each of which begins after the one before. What threads alone did before the loop is
    /// fenced once, and not by a barrier of each turn.
    fn enter_turns(&mut self, regions: &[Block]) {
        let func = self.func;
        let touches = regions.iter().any(|&region| self.proxy.touches_inside(func, region));
        let is_barrier = |op: &ops::Op| matches!(op, ops::Op::Sync { scope: Scope::Block });
        let meets = regions.iter().any(|&region| func.contains(region, is_barrier));
        if !touches && meets && func.num_warps > 1 && self.proxy.fence() {
            self.emit(Op::FenceProxyAsync);
        }
        self.proxy.join(touches);
    }

    pub fn run_if(&mut self, inst: &InstData, cond: Value) -> Result<Vec<Vec<Reg>>, String> {
        let [yes, no] = inst.regions[..] else { return Err("an `if` without branches".into()) };
        let cond = self.regs(cond)[0];
        let results: Vec<Vec<Reg>> = inst.results.iter().map(|&v| self.fresh(v)).collect();
        let (otherwise, done) = (self.label(), self.label());
        self.emit(Op::Bra { label: otherwise, pred: Some(cond), unless: true, uniform: true });
        let before = self.proxy.touched();
        self.block(yes)?;
        let after = self.proxy.restore(before);
        let yielded = self.func.yielded(yes).to_vec();
        self.update(&results, &yielded);
        self.emit(Op::Bra { label: done, pred: None, unless: false, uniform: true });
        self.emit(Op::Label { label: otherwise });
        self.block(no)?;
        self.proxy.join(after);
        let yielded = self.func.yielded(no).to_vec();
        self.update(&results, &yielded);
        self.emit(Op::Label { label: done });
        Ok(results)
    }

    /// Registers of the loop's own, holding what is carried at first, some of it in words of two elements.
    fn carry(&mut self, inst: &InstData, in_words: &[bool]) -> Vec<Vec<Reg>> {
        let mut registers = |(&v, &in_words): (&Value, &bool)| {
            if !in_words {
                return self.fresh(v);
            }
            (0..self.registers(v) / 2).map(|_| self.reg(Class::B32)).collect()
        };
        let carried: Vec<Vec<Reg>> = inst.args.iter().zip(in_words).map(&mut registers).collect();
        self.update(&carried, &inst.args);
        carried
    }

    /// Registers for a value, one for each that a thread holds of it.
    fn fresh(&mut self, value: Value) -> Vec<Reg> {
        let class = match self.func.ty(value).elem {
            Elem::Num(dtype) => class_of_dtype(dtype),
            Elem::Ptr { .. } => Class::B64,
        };
        (0..self.registers(value)).map(|_| self.reg(class)).collect()
    }

    /// Moves values into registers, all at once: a register that is still to be read is saved before it is overwritten.
    fn update(&mut self, into: &[Vec<Reg>], values: &[Value]) {
        let targets = into.iter().flatten().copied();
        let mut sources = Vec::new();
        for (into, &value) in into.iter().zip(values) {
            let regs = self.regs(value).to_vec();
            let in_words = into.len() < regs.len();
            sources.extend(regs.chunks(1 + usize::from(in_words)).map(|regs| match *regs {
                [lo, hi] => self.pair(Class::B32, lo, hi),
                _ => regs[0],
            }));
        }
        let moves: Vec<(Reg, Reg)> = targets.zip(sources).filter(|(dst, src)| dst != src).collect();
        let mut saved: Vec<(Reg, Reg)> = Vec::new();
        for (i, &(dst, _)) in moves.iter().enumerate() {
            let read_later = moves[i + 1..].iter().any(|&(_, src)| src == dst);
            if read_later && !saved.iter().any(|&(old, _)| old == dst) {
                let copy = self.copy(dst);
                saved.push((dst, copy));
            }
        }
        for (i, &(dst, src)) in moves.iter().enumerate() {
            let overwritten = moves[..i].iter().any(|&(earlier, _)| earlier == src);
            let copy = saved.iter().find(|&&(old, _)| overwritten && old == src).map_or(src, |&(_, copy)| copy);
            self.emit(Op::Mov { ty: class_type(dst.class), dst, src: copy.into() });
        }
    }
}
