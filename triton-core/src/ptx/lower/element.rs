//! Registers of a tile one by one, where nothing moves between threads: those that are read at once, those that only a cold path or an
//! access of many addresses reads in it.

use crate::ir::Value;
use crate::ops;
use crate::ptx::lower::Lower;
use crate::ptx::lower::demand;
use crate::ptx::{Opcode, Reg, Ty};
use crate::types::Elem;

impl Lower<'_> {
    /// The registers of a tile of which each that is read is computed by itself.
    pub fn tile(
        &mut self,
        result: Value,
        mut compute: impl FnMut(&mut Self, usize) -> Result<Reg, String>,
    ) -> Result<Vec<Reg>, String> {
        let mut regs = vec![Reg::NONE; self.registers(result)];
        for r in 0..regs.len() {
            let first = self.analyses.demand.representative(result, r);
            regs[r] = match first == r && self.analyses.demand.reads(result, r) {
                true => compute(self, r)?,
                false => regs[first],
            };
        }
        Ok(regs)
    }

    /// The registers of a tile, of which those that are read are computed at once from the same ones of an operand.
    pub fn several(
        &mut self,
        x: Value,
        result: Value,
        compute: impl FnOnce(&mut Self, &[Reg]) -> Vec<Reg>,
    ) -> Result<Vec<Reg>, String> {
        let read: Vec<usize> = (0..self.registers(result)).filter(|&r| self.analyses.demand.reads(result, r)).collect();
        let operands: Vec<Reg> = read.iter().map(|&r| self.regs(x)[r]).collect();
        let values = compute(self, &operands);
        self.tile(result, |_, r| Ok(read.binary_search(&r).map_or(Reg::NONE, |at| values[at])))
    }

    /// What a register of a tile holds. What only a [cold path](Lower::on_cold_path) reads is computed there.
    pub fn element(&mut self, value: Value, register: usize) -> Result<Reg, String> {
        let register = self.analyses.demand.representative(value, register);
        if let Some(known) = self.values.register(value, register) {
            return Ok(known);
        }
        let op = self.made_by(value).filter(|_| self.values.is_cold());
        let op = op.ok_or_else(|| format!("register {register} of {value}, which nothing reads"))?;
        let reg = self.compute(&op, value, register)?;
        self.values.keep(value, register, reg);
        Ok(reg)
    }

    /// Emits a path that few warps take: what it alone reads is computed in it.
    pub fn on_cold_path<T>(&mut self, emit: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        let outer = self.values.begin_cold();
        let result = emit(self);
        self.values.end(outer);
        result
    }

    /// Emits an access: what only it reads of its addresses and its mask is computed in it.
    pub fn where_read<T>(
        &mut self,
        (ptr, mask): (Value, Option<Value>),
        emit: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let deferred =
            self.analyses.demand.is_deferred(ptr) || mask.is_some_and(|mask| self.analyses.demand.is_deferred(mask));
        if deferred { self.on_cold_path(emit) } else { emit(self) }
    }

    /// The operation that yields a value; `None` of parameters.
    pub fn made_by(&self, value: Value) -> Option<ops::Op> {
        self.analyses.demand.defs().op(self.func, value)
    }

    /// Emits a branch of a cold path: what it computes is not known to be computed elsewhere.
    pub fn on_a_branch<T>(&mut self, emit: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        let before = self.values.known();
        let result = emit(self);
        self.values.end(before);
        result
    }

    /// One register of the result of an operation that moves nothing between threads.
    pub fn compute(&mut self, op: &ops::Op, result: Value, r: usize) -> Result<Reg, String> {
        Ok(match *op {
            ops::Op::Broadcast { .. } | ops::Op::Reshape { .. } | ops::Op::Permute { .. } => {
                let (x, change) = op.shape_change().ok_or("a change of shape of no tile")?;
                let registers = demand::operand_registers(self.func, result, x, change)?;
                self.element(x, registers[r])?
            }
            ops::Op::Arange { start, .. } => self.arange(start, result, r)?,
            ops::Op::Cast { x, to } => {
                let (from, x) = (self.dtype(x)?, self.element(x, r)?);
                self.cast(from, to, x)
            }
            // A register is its bits; of bytes those above them are others.
            ops::Op::Bitcast { x, to } => {
                let x = self.element(x, r)?;
                self.narrow(to, x)
            }
            ops::Op::Hint { x, .. } => self.element(x, r)?,
            ops::Op::Select { cond, a, b } => {
                let elem = self.func.ty(a).elem;
                let [cond, a, b] = [self.element(cond, r)?, self.element(a, r)?, self.element(b, r)?];
                self.select(elem, cond, a, b)
            }
            ops::Op::Offset { ptr, index } => {
                let Elem::Ptr { pointee, .. } = self.func.ty(ptr).elem else {
                    return Err(format!("{ptr} is not a pointer"));
                };
                let (dtype, base, index) = (self.dtype(index)?, self.element(ptr, r)?, self.element(index, r)?);
                self.offset(base, index, dtype, pointee)
            }
            ops::Op::Unary { kind, x } => {
                let (dtype, x) = (self.dtype(x)?, self.element(x, r)?);
                self.unary(kind, dtype, &[x])[0]
            }
            ops::Op::Binary { kind, a, b } => match self.product_of_widened(op, r)? {
                Some(whole) => whole,
                None => {
                    let (dtype, a, b) = (self.dtype(a)?, self.element(a, r)?, self.element(b, r)?);
                    self.binary(kind, dtype, a, b)
                }
            },
            ops::Op::Compare { kind, a, b } => {
                let (dtype, a, b) = (self.dtype(a)?, self.element(a, r)?, self.element(b, r)?);
                self.compare(kind, dtype, a, b)
            }
            ops::Op::Ternary { kind, a, b, c } => {
                let (dtype, abc) = (self.dtype(a)?, [self.element(a, r)?, self.element(b, r)?, self.element(c, r)?]);
                self.ternary(kind, dtype, abc)
            }
            // These are known before, move elements, or have effects.
            ops::Op::Const { .. }
            | ops::Op::Outer { .. }
            | ops::Op::ProgramId { .. }
            | ops::Op::NumPrograms { .. }
            | ops::Op::ClusterRank {}
            | ops::Op::ClusterGather { .. }
            | ops::Op::ClusterScatter { .. }
            | ops::Op::BlockId {}
            | ops::Op::NumBlocks {}
            | ops::Op::Splat { .. }
            | ops::Op::Join { .. }
            | ops::Op::Split { .. }
            | ops::Op::Convert { .. }
            | ops::Op::Dot { .. }
            | ops::Op::Load { .. }
            | ops::Op::Store { .. }
            | ops::Op::Atomic { .. }
            | ops::Op::AtomicCas { .. }
            | ops::Op::Fence {}
            | ops::Op::Assert { .. }
            | ops::Op::Print { .. }
            | ops::shared_ops!()
            | ops::synchronizes!()
            | ops::ring_ops!()
            | ops::Op::For { .. }
            | ops::Op::While {}
            | ops::Op::If { .. }
            | ops::Op::Yield {}
            | ops::Op::Fold { .. } => return Err(format!("`{}` is not elementwise", op.mnemonic())),
        })
    }

    fn arange(&mut self, start: i32, result: Value, r: usize) -> Result<Reg, String> {
        let layout = self.func.layout(result).ok_or("a tile without a layout")?.clone();
        let thread = self.thread_element(&layout);
        let touched = layout.lane.iter().chain(&layout.warp).fold(0, |all, c| all | c);
        let (copy, register) = layout.copy_of(r);
        let own = layout.register_element(register);
        let further = i64::from(start) + i64::from(self.func.ty(result).shape.origin(copy, 0));
        let add = |cx: &mut Self, x: Reg, k: i64| {
            if k == 0 { x } else { cx.arith(Opcode::Add, Ty::S32, &[x.into(), k.into()]) }
        };
        // Xor is addition where no bit meets another.
        Ok(if touched & own == 0 {
            add(self, thread, i64::from(own) + further)
        } else {
            let element = self.arith(Opcode::Xor, Ty::B32, &[thread.into(), i64::from(own).into()]);
            add(self, element, further)
        })
    }
}
