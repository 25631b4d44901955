//! IR at stage 2 → PTX: the walk over the instructions, and what is not arithmetic, conversion or memory. What other
//! files emit, they emit as methods of `Lower`, too; what they remember is in its contexts.
//!
//! A scalar is one register with the same value in all threads; a tile is one register for each of its layout's
//! registers.

pub(crate) mod analyses;
mod assertions;
pub(crate) mod at_entry;
pub(crate) mod buffers;
pub(crate) mod bulk_state;
pub(crate) mod demand;
mod element;
mod emit;
mod entry;
pub(crate) mod extra_params;
pub(crate) mod loop_carried;
pub(crate) mod loops;
mod roles;
pub(crate) mod run;
pub(crate) mod values;

use crate::ptx::lower::analyses::Analyses;
use crate::ptx::lower::at_entry::AtEntry;
use crate::ptx::lower::buffers::Buffers;
use crate::ptx::lower::bulk_state::Bulk;
use crate::ptx::lower::roles::Part;

use crate::analysis::pressure;
use crate::ir::{Block, Function, InstData, Value};
use crate::layout::{Swizzle, access};
use crate::metadata::{Specialization, Target};
use crate::ops;
use crate::ptx::code::emitter::{Emitter, bits_type};
use crate::ptx::code::proxy::Proxy;
use crate::ptx::lower::extra_params::ExtraParams;
use crate::ptx::lower::loops::Loops;
use crate::ptx::lower::run::Run;
use crate::ptx::lower::values::Values;
use crate::ptx::text::footprint::{ptx_version, shared_memory};
use crate::ptx::text::lines::Lines;
use crate::ptx::{Bounds, Cmp, Kernel, Op, Operand, Reg, Special, Ty};
use crate::span::Span;
use crate::types::{Constant, DType};

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LowerError {
    /// It would be larger than [`crate::ptx::MAX_TEXT`]. Most of it is for the operation at this span: this many
    /// instructions, at least.
    Large(Span, usize),
    /// It would need more shared memory than a block of the target has.
    SharedMemory {
        /// Bytes of all buffers.
        needed: u64,
        /// Bytes of the largest of them.
        largest: u64,
        /// The operation that the largest is for.
        span: Span,
    },
    /// A value whose registers cannot be found without moving elements between threads: a bug in layout assignment.
    Mistake(String),
}

impl std::fmt::Display for LowerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LowerError::Large(_, instructions) => write!(f, "an operation of {instructions} instructions or more"),
            LowerError::SharedMemory { needed, .. } => write!(f, "{needed} bytes of shared memory"),
            LowerError::Mistake(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for LowerError {}

/// Generates code for one target under a specialization (the one that layouts were assigned for).
///
/// # Errors
/// Code that is too large, more shared memory than the target has, or a bug in another pass.
pub fn lower(func: &Function, target: Target, promise: Specialization) -> Result<Kernel, LowerError> {
    let (buffers, largest, span) = shared_memory(func);
    let needed = buffers.next_multiple_of(8) + func.all_mbarrier_bytes();
    if needed > u64::from(target.shared_bytes()) {
        return Err(LowerError::SharedMemory { needed, largest, span });
    }
    let parts = Part::all(func, promise).map_err(LowerError::Mistake)?;
    let analyses = Analyses::of(func, promise);
    let mut cx = Lower {
        func,
        target,
        analyses: &analyses,
        params: ExtraParams::default(),
        entry: AtEntry::default(),
        lines: Lines::default(),
        code: Emitter::new(),
        values: Values::new(),
        buffers: Buffers::default(),
        bulk: Bulk::default(),
        loops: Loops::default(),
        proxy: Proxy::of(func),
    };
    let (params, maps) = cx.params();
    let done = cx.roles(&parts);
    let (instructions, span) = cx.code.largest();
    if cx.code.is_full() {
        return Err(LowerError::Large(span, instructions));
    }
    done.map_err(LowerError::Mistake)?;
    cx.code.locate(Span::NONE);
    cx.emit(Op::Ret);
    let (mut body, mut registers) = cx.code.finish();
    crate::ptx::code::dce::remove_dead(&mut body, registers);
    crate::ptx::code::coalesce::coalesce(&mut body, registers);
    crate::ptx::code::hold::hold(&mut body, &mut registers);
    let threads = func.block_threads();
    let shared_bytes = cx.buffers.bytes();
    let pressure = pressure::registers(func, &analyses.facts);
    let bounds = match func.max_registers {
        Some(registers) => Bounds::Registers(registers),
        None => pressure::resident_blocks(func, pressure, target, shared_bytes).map_or(Bounds::None, Bounds::Blocks),
    };
    Ok(Kernel {
        version: ptx_version(func, target, &body),
        target: target.name(),
        entry: entry_name(&func.name),
        params,
        maps,
        threads,
        cluster: func.blocks_of_cluster(),
        bounds,
        pressure,
        sources: func.sources.clone(),
        registers,
        shared_bytes,
        // Swizzles of the hardware permute the bits of an address, not of an offset.
        shared_align: if cx.proxy.any { Swizzle::B128.align() } else { access::WIDEST },
        local_bytes: cx.lines.local_bytes(),
        texts: cx.lines.into_texts(),
        programs: func.program_map(),
        report: cx.params.report.is_some(),
        largest: (instructions, span),
        body,
    })
}

/// A kernel's name as an identifier of PTX, which is of ASCII letters, digits, `_` and `$` (PTX ISA, "Identifiers"). Rust's have
/// no `$`, so that two names stay two.
fn entry_name(name: &str) -> String {
    let mut entry = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => entry.push(c),
            c => entry.push_str(&format!("${:x}$", u32::from(c))),
        }
    }
    // One alone is not a name.
    if entry == "_" { "$_".into() } else { entry }
}

/// What lowering knows and has made. The type of a field says what it keeps, and from where to where that holds; those
/// that hold for the whole kernel come first.
pub(crate) struct Lower<'a> {
    pub func: &'a Function,
    pub target: Target,
    /// What was known before the first instruction.
    pub analyses: &'a Analyses,
    /// What a launch passes beside the kernel's own parameters.
    pub params: ExtraParams,
    /// What the entry computes for the whole kernel.
    pub entry: AtEntry,
    /// What lines to print take.
    pub lines: Lines,
    /// The code so far.
    pub code: Emitter,
    /// The registers of values.
    pub values: Values,
    /// Where buffers are in shared memory.
    pub buffers: Buffers,
    /// What bulk copies need.
    pub bulk: Bulk,
    /// The loops around.
    pub loops: Loops,
    /// What else than threads accesses shared memory, and what of it threads have touched.
    pub proxy: Proxy,
}

impl Lower<'_> {
    /// The code of a block.
    pub fn block(&mut self, block: Block) -> Result<(), String> {
        let func = self.func;
        for (_, inst) in func.block(block) {
            self.code.locate(inst.span);
            let before = self.code.len();
            let done = self.operation(inst);
            if inst.regions.is_empty() {
                self.proxy.touch(func, inst);
            }
            let nested = matches!(inst.op, ops::Op::For { .. } | ops::Op::While {} | ops::Op::If { .. });
            if !nested {
                self.code.measure(self.code.len() - before, inst.span);
            }
            if self.code.is_full() {
                return Err("too much code".into());
            }
            let regs = done?;
            for (&result, regs) in inst.results.iter().zip(regs) {
                self.set(result, regs);
            }
        }
        Ok(())
    }

    /// Gives a value its registers.
    pub fn set(&mut self, value: Value, regs: Vec<Reg>) {
        self.values.set(value, regs);
    }

    /// The registers of a value.
    pub fn regs(&self, value: Value) -> &[Reg] {
        self.values.of(value)
    }

    /// The element type of a value of numbers.
    pub fn dtype(&self, value: Value) -> Result<DType, String> {
        self.func.ty(value).elem.num().ok_or_else(|| format!("{value} is not a number"))
    }

    /// Registers that a thread holds of a value.
    pub fn registers(&self, value: Value) -> usize {
        self.func.registers(value)
    }

    /// The code of an instruction, and the registers of each of its results.
    fn operation(&mut self, inst: &InstData) -> Result<Vec<Vec<Reg>>, String> {
        let yields = || {
            let without = || format!("`{}` without a result", inst.op.mnemonic());
            inst.results.first().copied().ok_or_else(without)
        };
        if let Some(&result) = inst.results.first()
            && self.analyses.demand.is_deferred(result)
        {
            return Ok(vec![vec![Reg::NONE; self.registers(result)]]);
        }
        if inst.results.first().is_some_and(|&product| self.loops.product(product).is_some()) {
            return Ok(vec![vec![Reg::NONE]]);
        }
        let regs = match inst.op {
            ops::Op::For { start, end, step } => return self.run_for(inst, start, end, step),
            ops::Op::While {} => return self.run_while(inst),
            ops::Op::If { cond } => return self.run_if(inst, cond),
            ops::Op::Yield {} => return Ok(Vec::new()),
            ops::Op::Fold { kind, axis, order } => return self.fold(inst, kind, axis as usize, order),
            ops::Op::Atomic { kind, order, to, value } => return self.atomic(inst, (kind, order), to, value),
            ops::Op::Fence {} => {
                self.emit(Op::FenceAcqRel);
                return Ok(Vec::new());
            }
            ops::Op::AtomicCas { order, to, compare, value } => {
                return self.atomic_cas(inst, order, to, [compare, value]);
            }
            ops::Op::Store { to, value } => return self.store(to, value).map(|()| Vec::new()),
            ops::Op::SharedAlloc { at, .. } => return self.shared_alloc(yields()?, at).map(|()| Vec::new()),
            ops::Op::SharedStore { buffer, part, value } => {
                return self.shared_store(buffer, part, value).map(|()| Vec::new());
            }
            ops::ring_ops!() => return self.ring(inst).map(|()| Vec::new()),
            ops::Op::DotWait { sum } => self.dot_wait(sum, yields()?),
            ops::Op::ClusterArrive {} => return self.cluster_arrive().map(|()| Vec::new()),
            ops::Op::TurnWait {} => {
                self.turn_wait();
                return Ok(Vec::new());
            }
            ops::Op::TurnPass {} => {
                self.turn_pass();
                return Ok(Vec::new());
            }
            ops::Op::ClusterWait {} => {
                self.emit(Op::ClusterWait);
                return Ok(Vec::new());
            }
            ops::Op::ClusterSend { buffer, value, axis } => {
                return self.cluster_send(buffer, value, axis).map(|()| Vec::new());
            }
            ops::Op::ClusterReceive { buffer } => return self.cluster_receive(buffer).map(|()| Vec::new()),
            ops::Op::ClusterGather { .. } | ops::Op::ClusterScatter { .. } => {
                return Err("an exchange between blocks without messages".into());
            }
            ops::Op::Print { text, values } => return self.print(text, values.as_slice()).map(|()| Vec::new()),
            ops::Op::Sync { scope } => {
                self.sync(scope);
                return Ok(Vec::new());
            }
            ops::Op::Assert { cond, message } => {
                self.assertion(cond, message);
                return Ok(Vec::new());
            }
            ops::Op::SharedLoad { buffer, part, rest } => self.shared_load(buffer, part, rest, yields()?)?,
            ops::Op::SharedSlice { when, rest, .. } => self.shared_slice(inst, when.zip(rest))?,
            ops::Op::Load { from, other } => self.load(from, other, yields()?)?,
            ops::Op::Dot { .. } => self.dot(inst)?,
            ops::Op::Convert { x } => self.convert(x, yields()?)?,
            ops::Op::Const { value } => vec![self.constant(value)],
            ops::Op::Outer { dtype, value } => vec![self.outer(dtype, value)],
            ops::Op::ProgramId { axis } => vec![self.program_id(axis.0)],
            ops::Op::NumPrograms { axis } => vec![self.num_programs(axis.0)],
            ops::Op::ClusterRank {} => vec![self.cluster_rank()],
            ops::Op::BlockId {} => vec![self.mov(Ty::U32, Operand::Special(Special::Ctaid(0)))],
            ops::Op::NumBlocks {} => vec![self.mov(Ty::U32, Operand::Special(Special::Nctaid(0)))],
            ops::Op::Splat { x, .. } => vec![self.regs(x)[0]; self.registers(yields()?)],
            ops::Op::Permute { x, .. } | ops::Op::Reshape { x, .. } if self.func.mem(x).is_some() => {
                return self.alias(x, yields()?).map(|()| Vec::new());
            }
            ops::Op::Broadcast { .. } | ops::Op::Reshape { .. } | ops::Op::Permute { .. } => {
                let (x, change) = inst.op.shape_change().ok_or("a change of shape of no tile")?;
                let registers = demand::operand_registers(self.func, yields()?, x, change)?;
                registers.into_iter().map(|r| self.regs(x)[r]).collect()
            }
            // Peers in registers, as `Layout::join` says.
            ops::Op::Join { a, b } => {
                let pairs = self.regs(a).iter().zip(self.regs(b));
                pairs.flat_map(|(&a, &b)| [a, b]).collect()
            }
            ops::Op::Split { x, index } => {
                let layout = self.func.layout(x).ok_or("a tile without a layout")?;
                let pair = layout.reg.iter().position(|&c| c == 1).ok_or("a split between threads")?;
                let of = |r: usize| r >> pair << (pair + 1) | (index as usize) << pair | r & ((1 << pair) - 1);
                (0..self.registers(yields()?)).map(|r| self.regs(x)[of(r)]).collect()
            }
            ops::Op::Unary { kind, x } => {
                let dtype = self.dtype(x)?;
                self.several(x, yields()?, |cx, operands| cx.unary(kind, dtype, operands))?
            }
            ops::Op::Cast { x, to: DType::F16 } if matches!(self.dtype(x)?, DType::I8 | DType::U8) => {
                let dtype = self.dtype(x)?;
                self.several(x, yields()?, |cx, operands| cx.bytes_to_f16(dtype, operands))?
            }
            ops::Op::Select { cond, a, b } => {
                let result = yields()?;
                match Run::ends_of_selection(self.func, &self.analyses.facts, cond, result) {
                    Some(ends) => self.select_by_rows(ends, [cond, a, b])?,
                    None => self.tile(result, |cx, r| cx.compute(&inst.op, result, r))?,
                }
            }
            ops::Op::Offset { ptr, index } => match self.offset_by_product(ptr, index, yields()?)? {
                Some(regs) => regs,
                None => self.tile(yields()?, |cx, r| cx.compute(&inst.op, yields()?, r))?,
            },
            ops::Op::Arange { .. }
            | ops::Op::Cast { .. }
            | ops::Op::Bitcast { .. }
            | ops::Op::Binary { .. }
            | ops::Op::Compare { .. }
            | ops::Op::Ternary { .. }
            | ops::Op::Hint { .. } => {
                let result = yields()?;
                self.tile(result, |cx, r| cx.compute(&inst.op, result, r))?
            }
        };
        Ok(vec![regs])
    }

    pub fn constant(&mut self, value: Constant) -> Reg {
        let ty = bits_type(value.dtype);
        // Bits of narrow integers are kept extended by their sign, as every register of that type is.
        let bits = value.as_int().map_or(value.bits as i64, |int| int as i64);
        self.mov(ty, bits)
    }

    /// A number that is not known yet: an immediate of the width that holds its bits.
    fn outer(&mut self, dtype: DType, value: ops::Outer) -> Reg {
        if dtype == DType::Bool {
            let bits = self.mov(Ty::B16, Operand::Outer(value, 4));
            return self.setp(Cmp::Ne, Ty::U16, bits, Operand::Int(0));
        }
        let bits = self.mov(bits_type(dtype), Operand::Outer(value, (dtype.bits() / 4).max(4) as u8));
        self.narrow(dtype, bits)
    }
}
