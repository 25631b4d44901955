//! IR at stage 2 → PTX: the walk over the instructions, and what is not arithmetic, conversion or memory.
//!
//! A scalar is one register with the same value in all threads; a tile is one register for each of its layout's
//! registers.

use super::demand::{self, Demand};
use super::footprint::{Bulk, ptx_version, shared_memory};
use super::loop_carried::LoopCarried;
use super::packed::Packed;
use super::proxy::Proxy;
use super::run::Run;
use super::{Bounds, Class, Cmp, Inst, Kernel, Op, Opcode, Operand, Operands, Reg, Special, Ty};
use crate::analysis::axis::{self, AxisInfo};
use crate::analysis::pressure;
use crate::analysis::stepped::Stepped;
use crate::entity::SideTable;
use crate::ir::{Block, Function, InstData, Value};
use crate::layout::linear::apply;
use crate::layout::{Layout, Swizzle, access};
use crate::metadata::{Specialization, Target};
use crate::ops;
use crate::span::{Loc, Span};
use crate::types::{Constant, DType};
use std::collections::HashMap;

/// Instructions that certainly exceed [`super::MAX_TEXT`].
const MAX_INSTRUCTIONS: usize = super::MAX_TEXT / 8;

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LowerError {
    /// It would be larger than [`super::MAX_TEXT`]. Most of it is for the operation at this span: this many
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
    let facts = axis::analyse(func, promise);
    let demand = demand::analyse(func, &facts);
    let mut cx = Lower {
        func,
        target,
        buffers: HashMap::new(),
        slots: HashMap::new(),
        slot_numbers: HashMap::new(),
        facts,
        cold: None,
        loop_carried: LoopCarried::of(func, demand.defs()),
        demand,
        report: None,
        texts: Vec::new(),
        local: 0,
        grid: None,
        program: None,
        regs: SideTable::new(Vec::new()),
        count: [0; 4],
        body: Vec::with_capacity(1024),
        entry: Vec::new(),
        labels: 0,
        shared: 0,
        packed: Packed::default(),
        loc: None,
        thread: None,
        elements: HashMap::new(),
        guards: HashMap::new(),
        loops: 0,
        stepped: HashMap::new(),
        shared_threads: HashMap::new(),
        warpgroup_addresses: HashMap::new(),
        rank: None,
        mailboxes: HashMap::new(),
        bulk: Bulk::default(),
        proxy: Proxy::of(func),
        largest: (0, Span::NONE),
    };
    let (params, maps) = cx.params();
    let done = cx.block(func.body);
    let (instructions, span) = cx.largest;
    if cx.is_full() {
        return Err(LowerError::Large(span, instructions));
    }
    done.map_err(LowerError::Mistake)?;
    cx.loc = None;
    cx.emit(Op::Ret);
    let mut body = cx.entry;
    body.append(&mut cx.body);
    super::dce::remove_dead(&mut body, cx.count);
    super::coalesce::coalesce(&mut body);
    let threads = func.threads();
    let pressure = pressure::registers(func, &cx.facts);
    let bounds = match func.max_registers {
        Some(registers) => Bounds::Registers(registers),
        None => pressure::resident_blocks(func, pressure, target, cx.shared).map_or(Bounds::None, Bounds::Blocks),
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
        files: func.sources.files.clone(),
        registers: cx.count,
        shared_bytes: cx.shared,
        // Swizzles of the hardware permute the bits of an address, not of an offset.
        shared_align: if cx.proxy.any { Swizzle::B128.align() } else { access::WIDEST },
        local_bytes: cx.local,
        texts: cx.texts,
        programs: func.program_map(),
        report: cx.report.is_some(),
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

/// The address of shared memory, and what a thread adds to it, alone and as an address; `None` if that is 0 in every thread.
pub(super) type SharedThread = (Reg, Option<(Reg, Reg)>);

pub(super) struct Lower<'a> {
    pub func: &'a Function,
    pub target: Target,
    pub facts: SideTable<Value, AxisInfo>,
    /// What loops carry for products.
    pub loop_carried: LoopCarried,
    /// The parameter of a kernel with assertions: see `report`.
    pub report: Option<(Reg, Reg)>,
    /// Texts of the module.
    pub texts: Vec<String>,
    /// Bytes of local memory.
    pub local: u32,
    /// The number of programs along each axis, where a block runs several of them.
    pub grid: Option<[Reg; 3]>,
    /// Which program the block runs, along the first two axes, where the function says so.
    pub program: Option<[Reg; 2]>,
    /// What is read of each value.
    pub demand: Demand,
    /// What a cold path has computed for itself; `None` elsewhere.
    pub cold: Option<HashMap<(Value, usize), Reg>>,
    pub(super) regs: SideTable<Value, Vec<Reg>>,
    count: [u32; 4],
    body: Vec<Inst>,
    /// What every thread computes once, at the entry.
    entry: Vec<Inst>,
    labels: u32,
    /// Bytes of shared memory of all buffers.
    pub shared: u32,
    /// The offset of each buffer.
    pub buffers: HashMap<Value, u32>,
    /// Of slots of rings, the bytes before them in their buffers.
    pub slots: HashMap<Value, Reg>,
    /// The number of an item's slot, by the number of slots.
    pub slot_numbers: HashMap<(Value, u32), Reg>,
    /// Words whose halves are in registers, too.
    pub packed: Packed,
    loc: Option<Loc>,
    thread: Option<Reg>,
    elements: HashMap<Layout, Reg>,
    guards: HashMap<u32, Option<Reg>>,
    /// How many loops are around.
    pub loops: u32,
    /// Addresses of the first elements of tiles that loops around step.
    pub stepped: HashMap<Stepped, Reg>,
    /// What accesses to shared memory take of the thread, by how far each bit of its index moves the address.
    pub shared_threads: HashMap<Vec<u32>, SharedThread>,
    /// Addresses of shared memory, by what the number of a warpgroup adds: see [`super::wgmma`].
    pub warpgroup_addresses: HashMap<(u32, u32, u32), Reg>,
    /// The block's rank in its cluster.
    pub rank: Option<Reg>,
    /// The mbarrier of each buffer that receives messages, as an offset in shared memory.
    pub mailboxes: HashMap<Value, u32>,
    /// What bulk copies need.
    pub bulk: Bulk,
    /// What else than threads accesses shared memory.
    pub proxy: Proxy,
    /// The most instructions of one operation, and where it is.
    largest: (usize, Span),
}

impl Lower<'_> {
    pub fn emit(&mut self, op: Op) {
        self.emit_if(None, op);
    }

    pub fn emit_if(&mut self, guard: Option<Reg>, op: Op) {
        if !self.is_full() {
            self.packed.written(&op);
            self.body.push(Inst { guard, op, loc: self.loc });
        }
    }

    /// Whether there is more code than there may be: all that follows is dropped, and need not be generated.
    pub fn is_full(&self) -> bool {
        self.body.len() >= MAX_INSTRUCTIONS
    }

    /// Emits at the entry of the kernel, where what is computed reaches every use.
    pub fn at_entry<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        let loc = self.loc.take();
        std::mem::swap(&mut self.body, &mut self.entry);
        let result = emit(self);
        std::mem::swap(&mut self.body, &mut self.entry);
        self.loc = loc;
        result
    }

    pub fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// The code of a block.
    pub fn block(&mut self, block: Block) -> Result<(), String> {
        let func = self.func;
        for (_, inst) in func.block(block) {
            self.loc = func.sources.loc(inst.span);
            let before = self.body.len();
            let done = self.operation(inst);
            if inst.regions.is_empty() {
                self.proxy.touch(func, inst);
            }
            let count = self.body.len() - before;
            let nested = matches!(inst.op, ops::Op::For { .. } | ops::Op::While {} | ops::Op::If { .. });
            if !nested && count > self.largest.0 {
                self.largest = (count, inst.span);
            }
            if self.is_full() {
                return Err("too much code".into());
            }
            let regs = done?;
            for (&result, regs) in inst.results.iter().zip(regs) {
                self.regs[result] = regs;
            }
        }
        Ok(())
    }

    /// Emits a predicate, number or address that is in another register as one of its own: what follows may change it.
    pub fn copy(&mut self, reg: Reg) -> Reg {
        self.mov(class_type(reg.class), reg)
    }

    pub fn set(&mut self, value: Value, regs: Vec<Reg>) {
        self.regs[value] = regs;
    }

    pub fn reg(&mut self, class: Class) -> Reg {
        let count = &mut self.count[class as usize];
        *count += 1;
        Reg { class, index: *count - 1 }
    }

    /// A new register with the result of an arithmetic instruction.
    pub fn arith(&mut self, op: Opcode, ty: Ty, srcs: &[Operand]) -> Reg {
        let dst = self.reg(if op == Opcode::MadWide { Class::B64 } else { class_of(ty) });
        self.emit(Op::Arith { op, ty, dst, srcs: Operands::new(srcs) });
        dst
    }

    pub fn mov(&mut self, ty: Ty, src: impl Into<Operand>) -> Reg {
        let dst = self.reg(class_of(ty));
        self.emit(Op::Mov { ty, dst, src: src.into() });
        dst
    }

    pub fn setp(&mut self, cmp: Cmp, ty: Ty, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(Class::Pred);
        self.emit(Op::Setp { cmp, ty, dst, a: a.into(), b: b.into() });
        dst
    }

    pub fn selp(&mut self, ty: Ty, a: impl Into<Operand>, b: impl Into<Operand>, pred: Reg) -> Reg {
        let dst = self.reg(class_of(ty));
        self.emit(Op::Selp { ty, dst, a: a.into(), b: b.into(), pred });
        dst
    }

    pub fn regs(&self, value: Value) -> &[Reg] {
        &self.regs[value]
    }

    /// The element type of a value of numbers.
    pub fn dtype(&self, value: Value) -> Result<DType, String> {
        self.func.ty(value).elem.num().ok_or_else(|| format!("{value} is not a number"))
    }

    /// Registers that a thread holds of a value.
    pub fn registers(&self, value: Value) -> usize {
        self.func.layout(value).map_or(1, Layout::registers)
    }

    /// The code of an instruction, and the registers of each of its results.
    fn operation(&mut self, inst: &InstData) -> Result<Vec<Vec<Reg>>, String> {
        let yields = || {
            let without = || format!("`{}` without a result", inst.op.mnemonic());
            inst.results.first().copied().ok_or_else(without)
        };
        if let Some(&result) = inst.results.first()
            && self.demand.is_deferred(result)
        {
            return Ok(vec![vec![Reg::NONE; self.registers(result)]]);
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
            ops::Op::RingFill { buffer, item, from, when } => {
                return self.ring_fill(buffer, item, from, when).map(|()| Vec::new());
            }
            ops::Op::RingWait { ring, item } => {
                return self.ring_wait(ring, item).map(|()| Vec::new());
            }
            ops::Op::RingSlot { buffer, item } => return self.ring_slot(buffer, item, yields()?).map(|()| Vec::new()),
            ops::Op::RingRelease { .. } => return Ok(Vec::new()),
            ops::Op::DotWait { sum } => self.dot_wait(sum, yields()?),
            ops::Op::ClusterArrive {} => return self.cluster_arrive().map(|()| Vec::new()),
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
            ops::Op::Splat { x, .. } => vec![self.regs[x][0]; self.registers(yields()?)],
            ops::Op::Broadcast { x, .. } => {
                let result = yields()?;
                let map = demand::broadcast(self.func, x, result)?;
                (0..self.registers(result)).map(|r| self.regs[x][apply(&map, r as u64) as usize]).collect()
            }
            ops::Op::Permute { x, .. } | ops::Op::Reshape { x, .. } if self.func.mem(x).is_some() => {
                return self.alias(x, yields()?).map(|()| Vec::new());
            }
            // Neither changes a column.
            ops::Op::Reshape { x, .. } | ops::Op::Permute { x, .. } => self.regs[x].clone(),
            // Neighbours in registers, as `Layout::join` says.
            ops::Op::Join { a, b } => {
                let pairs = self.regs[a].iter().zip(&self.regs[b]);
                pairs.flat_map(|(&a, &b)| [a, b]).collect()
            }
            ops::Op::Split { x, index } => {
                let layout = self.func.layout(x).ok_or("a tile without a layout")?;
                let pair = layout.reg.iter().position(|&c| c == 1).ok_or("a split between threads")?;
                let of = |r: usize| r >> pair << (pair + 1) | (index as usize) << pair | r & ((1 << pair) - 1);
                (0..self.registers(yields()?)).map(|r| self.regs[x][of(r)]).collect()
            }
            // Several at once.
            ops::Op::Unary { kind, x } => {
                let result = yields()?;
                let read: Vec<usize> = (0..self.registers(result)).filter(|&r| self.demand.reads(result, r)).collect();
                let operands: Vec<Reg> = read.iter().map(|&r| self.regs[x][r]).collect();
                let values = self.unary(kind, self.dtype(x)?, &operands);
                self.tile(result, |_, r| Ok(read.binary_search(&r).map_or(Reg::NONE, |at| values[at])))?
            }
            ops::Op::Select { cond, a, b } => {
                let result = yields()?;
                match Run::ends_of_selection(self.func, &self.facts, cond, result) {
                    Some(ends) => self.select_by_rows(ends, [cond, a, b])?,
                    None => self.tile(result, |cx, r| cx.compute(&inst.op, result, r))?,
                }
            }
            ops::Op::Arange { .. }
            | ops::Op::Cast { .. }
            | ops::Op::Bitcast { .. }
            | ops::Op::Offset { .. }
            | ops::Op::Binary { .. }
            | ops::Op::Compare { .. }
            | ops::Op::Ternary { .. } => {
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

    /// The element that a thread holds in register 0, as a number of 32 bits: the xor of the columns of its set bits.
    pub fn thread_element(&mut self, layout: &Layout) -> Reg {
        if let Some(&reg) = self.elements.get(layout) {
            return reg;
        }
        let element = self.at_entry(|cx| cx.compute_thread_element(layout));
        self.elements.insert(layout.clone(), element);
        element
    }

    fn compute_thread_element(&mut self, layout: &Layout) -> Reg {
        let tid = self.thread();
        // Thread bits that move by the same distance go together.
        let mut moves: Vec<(i32, u32)> = Vec::new();
        for (bit, &column) in layout.lane.iter().chain(&layout.warp).enumerate() {
            for target in (0..32).filter(|t| column >> t & 1 == 1) {
                let distance = target - bit as i32;
                match moves.iter_mut().find(|(d, _)| *d == distance) {
                    Some((_, mask)) => *mask |= 1 << bit,
                    None => moves.push((distance, 1 << bit)),
                }
            }
        }
        let mut element = None;
        let all = self.func.threads() - 1;
        for (distance, mask) in moves {
            let mut part = tid;
            if mask != all {
                part = self.arith(Opcode::And, Ty::B32, &[part.into(), i64::from(mask).into()]);
            }
            if distance != 0 {
                let (op, ty) = if distance > 0 { (Opcode::Shl, Ty::B32) } else { (Opcode::Shr, Ty::U32) };
                part = self.arith(op, ty, &[part.into(), i64::from(distance.abs()).into()]);
            }
            element = Some(match element {
                Some(other) => self.arith(Opcode::Xor, Ty::B32, &[Operand::Reg(other), part.into()]),
                None => part,
            });
        }
        element.unwrap_or_else(|| self.mov(Ty::U32, 0))
    }

    /// The thread's index. Emits at the current position, so it is called at the entry only.
    pub fn thread(&mut self) -> Reg {
        if let Some(tid) = self.thread {
            return tid;
        }
        let tid = self.mov(Ty::U32, Operand::Special(Special::Tid));
        self.thread = Some(tid);
        tid
    }

    /// Holds in one of the positions that hold the same element: where a store has to happen. `None` if every position
    /// does.
    pub fn store_guard(&mut self, value: Value) -> Option<Reg> {
        let Some(layout) = self.func.layout(value) else { return self.one_thread() };
        let (lanes, warps) = layout.replicated();
        self.one_of(lanes | warps << 5)
    }

    /// Holds in the first thread.
    pub fn one_thread(&mut self) -> Option<Reg> {
        self.one_of(self.func.threads() - 1)
    }

    /// Holds in the threads in which these bits of the index are 0.
    pub fn one_of(&mut self, replicated: u32) -> Option<Reg> {
        if replicated == 0 {
            return None;
        }
        if let Some(&guard) = self.guards.get(&replicated) {
            return guard;
        }
        let guard = Some(self.at_entry(|cx| {
            let tid = cx.thread();
            let bits = cx.arith(Opcode::And, Ty::B32, &[tid.into(), i64::from(replicated).into()]);
            cx.setp(Cmp::Eq, Ty::U32, bits, 0)
        }));
        self.guards.insert(replicated, guard);
        guard
    }
}

/// The register class of a PTX type.
pub(super) fn class_of(ty: Ty) -> Class {
    match ty {
        Ty::Pred => Class::Pred,
        Ty::B8 | Ty::U8 | Ty::S8 | Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => Class::B16,
        Ty::B32 | Ty::U32 | Ty::S32 | Ty::F16x2 | Ty::BF16x2 | Ty::F32 => Class::B32,
        Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 => Class::B64,
    }
}

/// The untyped PTX type of a register class.
pub(super) fn class_type(class: Class) -> Ty {
    match class {
        Class::Pred => Ty::Pred,
        Class::B16 => Ty::B16,
        Class::B32 => Ty::B32,
        Class::B64 => Ty::B64,
    }
}

/// The register class of an element.
pub(super) fn class_of_dtype(dtype: DType) -> Class {
    class_of(bits_type(dtype))
}

/// The untyped PTX type of a register that holds an element.
pub(super) fn bits_type(dtype: DType) -> Ty {
    match (dtype, dtype.bits()) {
        (DType::Bool, _) => Ty::Pred,
        (_, 64) => Ty::B64,
        (_, 32) => Ty::B32,
        _ => Ty::B16,
    }
}
