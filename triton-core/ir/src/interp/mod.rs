//! The interpreter: the reference semantics of the IR.
//!
//! Runs one program of a kernel over tiles of bits. It knows memory only as a [`Memory`], so the CPU device, the tests and
//! constant folding can share it. Layouts do not matter to what it computes: a pass is right if nothing here changes. At
//! stage 2 it also knows which thread accesses what, and reports what no barrier orders (`threads`).
//!
//! **Invariant:** exact and deterministic, and no input makes it panic: a program runs to its end or to a [`RunError`]. (A
//! `while` that never ends does not end here either.)

mod assertions;
mod clock;
mod cluster;
mod copies;
mod drains;
mod fault;
mod fold;
mod hints;
mod location;
mod order;
mod padding;
mod pages;
mod positions;
mod product;
mod rings;
mod shadow;
mod threads;

pub use assertions::FailedAssertion;
pub use fault::ProgramFault;
pub use hints::check as check_hint;

use crate::ir::{Block, Function, InstData, Stage, Value};
use crate::metadata::Arg;
use crate::ops::eval::{self, DivisionError};
use crate::ops::{Location, Op, Outer, ring_ops, shared_ops, synchronizes};
use crate::span::Span;
use crate::types::{Constant, DType, Elem};
use location::Reached;
use std::borrow::Cow;
use threads::Threads;

/// Global memory as the interpreter sees it. Addresses are the ones passed as pointer arguments, in bytes.
///
/// All elements of one access have the same `width` in bytes (1, 2, 4 or 8); `mask[i] == 0` leaves element `i` out, every
/// other value includes it. Values are the elements' bits, zero-extended.
pub trait Memory: Sync {
    /// Reads `out[i]` at `addresses[i]`; elements that are masked off keep what `out` held.
    ///
    /// # Errors
    /// The first element that memory refuses.
    fn load(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, out: &mut [u64]) -> Result<(), Fault>;

    /// Writes `values[i]` at `addresses[i]`.
    ///
    /// # Errors
    /// The first element that memory refuses; those before it may have been written.
    fn store(&self, width: u32, addresses: &[u64], mask: Option<&[u64]>, values: &[u64]) -> Result<(), Fault>;

    /// Replaces the element at `addresses[i]` by `replace(i, element)` and stores the old value in `out[i]`, in one
    /// atomic step that no other access comes between; elements that are masked off keep what `out` held. `replace` may
    /// be called again with another element.
    ///
    /// # Errors
    /// The first element that memory refuses; those before it have been replaced.
    fn update(
        &self,
        width: u32,
        addresses: &[u64],
        mask: Option<&[u64]>,
        replace: &dyn Fn(usize, u64) -> u64,
        out: &mut [u64],
    ) -> Result<(), Fault>;

    /// Takes lines that a program prints, each with its newline. By default they are dropped.
    fn print(&self, lines: &str) {
        let _ = lines;
    }
}

/// An access that memory refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which element of the access, as an index into the tile.
    pub element: usize,
    /// The address it was for.
    pub address: u64,
    /// What is wrong, as the end of a sentence: "8 bytes past the end of a buffer of 4096 bytes".
    pub reason: String,
}

/// Which program of which grid runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program's index along each axis.
    pub id: [u32; 3],
    /// The number of programs along each axis.
    pub grid: [u32; 3],
}

impl Program {
    /// How many programs are before it, along the first axis first.
    fn number(self) -> u64 {
        let [x, y, z] = self.id.map(u64::from);
        let [columns, rows, _] = self.grid.map(u64::from);
        x + columns * (y + rows * z)
    }

    /// The blocks that run the grid where a block runs several programs: a third of them, so that most run three.
    fn blocks(self) -> u64 {
        self.grid.map(u64::from).iter().product::<u64>().div_ceil(3)
    }
}

/// Why a program stopped. Its text names the kernel, the program, the source line and what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It did something that is not allowed.
    Fault(ProgramFault),
    /// An assertion of its own failed.
    Assertion(FailedAssertion),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Fault(fault) => fault.fmt(f),
            RunError::Assertion(assertion) => assertion.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs one program of a kernel to its end. `args` are in the order of the parameters. Of a [persistent](Function::is_persistent) function
/// some runs execute several programs and others none, so that all together execute each of them; so it is of
/// [multicast peers](Function::peers).
///
/// # Errors
/// What the program did wrong: an access that memory refused, an integer division that has no result.
pub fn run(func: &Function, args: &[Arg], program: Program, memory: &dyn Memory) -> Result<(), RunError> {
    if args.len() != func.params.len() {
        let (n, m) = (func.params.len(), args.len());
        let message = format!("the kernel takes {n} arguments, {m} were passed");
        return Err(RunError::Fault(ProgramFault::new(func, Span::NONE, program.id, message)));
    }
    // Then the first programs stand for blocks, and these run all of them.
    if func.is_persistent() && program.number() >= program.blocks() {
        return Ok(());
    }
    // The first one of peers stands for all.
    if !program.id[0].is_multiple_of(func.peers) {
        return Ok(());
    }
    let mut values: Vec<Vec<u64>> = vec![Vec::new(); func.types.len()];
    for (param, arg) in func.params.iter().zip(args) {
        values[param.value.0 as usize] = vec![arg.bits()];
    }
    let blocks = (0..func.blocks_of_cluster()).zip(std::iter::repeat_n(values, func.blocks_of_cluster() as usize));
    let machine = |(rank, values)| {
        let [x, y, z] = program.id;
        let program = Program { id: [x + if func.peers > 1 { rank } else { 0 }, y, z], ..program };
        Machine { func, program, rank, memory, values, threads: Threads::new(func) }
    };
    let mut blocks: Vec<Machine> = blocks.map(machine).collect();
    cluster::run(&mut blocks)?;
    blocks.iter().try_for_each(Machine::finish).map_err(RunError::Fault)
}

/// What an operation without memory and program yields, if its operands are `operand`; the heart of [`run`] and of folding.
///
/// # Errors
/// The message for an integer division that has no result.
pub fn evaluate<'a>(
    func: &Function,
    op: &Op,
    result: Option<Value>,
    operand: &dyn Fn(Value) -> Option<Cow<'a, [u64]>>,
) -> Option<Result<Vec<u64>, String>> {
    let dtype = |v: Value| func.ty(v).elem.num();
    let count = result.map_or(0, |v| func.ty(v).shape.elements()) as usize;
    Some(Ok(match *op {
        Op::Const { value } => vec![value.bits],
        Op::Outer { value: Outer::Known(bits), .. } => vec![bits],
        Op::Arange { start, end } => (start..end).map(|i| Constant::int(DType::I32, i.into()).bits).collect(),
        Op::Splat { x, .. } => vec![*operand(x)?.first()?; count],
        Op::Broadcast { x, shape } => {
            let (from, x) = (func.ty(x).shape, operand(x)?);
            (0..count as u64).map(|i| x.get(from.broadcast_index(shape, i) as usize).copied().unwrap_or(0)).collect()
        }
        Op::Reshape { x, .. } | Op::Convert { x } => operand(x)?.into_owned(),
        Op::Permute { x, order } => {
            let (from, x) = (func.ty(x).shape, operand(x)?);
            let mut out = vec![0; x.len()];
            x.iter().enumerate().for_each(|(i, &bits)| out[from.permute_index(order, i as u64) as usize] = bits);
            out
        }
        Op::Join { a, b } => {
            let (a, b) = (operand(a)?, operand(b)?);
            a.iter().zip(b.iter()).flat_map(|(&a, &b)| [a, b]).collect()
        }
        Op::Split { x, index } => operand(x)?.iter().skip(index as usize).step_by(2).copied().collect(),
        Op::Cast { x, to } => eval::cast(dtype(x)?, to, &operand(x)?),
        // Elements are their bits.
        Op::Bitcast { x, .. } | Op::Hint { x, .. } => operand(x)?.into_owned(),
        Op::Select { cond, a, b } => {
            let (cond, a, b) = (operand(cond)?, operand(a)?, operand(b)?);
            cond.iter().zip(a.iter().zip(b.iter())).map(|(&c, (&a, &b))| if c != 0 { a } else { b }).collect()
        }
        Op::Offset { ptr, index } => {
            let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { return None };
            let (dtype, scale) = (dtype(index)?, i128::from(pointee.bytes()));
            let index = operand(index)?;
            let offset = |bits: u64| Constant { dtype, bits }.as_int().unwrap_or(0).wrapping_mul(scale) as u64;
            operand(ptr)?.iter().zip(index.iter()).map(|(&p, &i)| p.wrapping_add(offset(i))).collect()
        }
        Op::Unary { kind, x } => eval::unary(kind, dtype(x)?, &operand(x)?),
        Op::Binary { kind, a, b } => {
            let (x, y) = (operand(a)?, operand(b)?);
            match eval::binary(kind, dtype(a)?, &x, &y) {
                Ok(values) => values,
                Err((element, error)) => return Some(Err(division_error(element, error, &x, dtype(a)?))),
            }
        }
        Op::Compare { kind, a, b } => eval::compare(kind, dtype(a)?, &operand(a)?, &operand(b)?),
        Op::Ternary { kind, a, b, c } => eval::ternary(kind, dtype(a)?, &operand(a)?, &operand(b)?, &operand(c)?),
        // These touch memory, the program or blocks, or have regions.
        Op::Outer { .. }
        | Op::ProgramId { .. }
        | Op::NumPrograms { .. }
        | Op::ClusterRank {}
        | Op::ClusterGather { .. }
        | Op::ClusterScatter { .. }
        | Op::BlockId {}
        | Op::NumBlocks {}
        | Op::Dot { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Atomic { .. }
        | Op::AtomicCas { .. }
        | Op::Fence {}
        | Op::Assert { .. }
        | Op::Print { .. }
        | shared_ops!()
        | synchronizes!()
        | ring_ops!()
        | Op::For { .. }
        | Op::While {}
        | Op::If { .. }
        | Op::Yield {}
        | Op::Fold { .. } => return None,
    }))
}

/// The note on a divisor of 0 that is the padding of a load.
const PADDING: &str = ", which is not in memory: where a mask is false, and outside a view, `load` yields 0; give it another \
     padding with `load_or`";

fn division_error(element: usize, error: DivisionError, x: &[u64], dtype: DType) -> String {
    let dividend = Constant { dtype, bits: x.get(element).copied().unwrap_or(0) }.as_int().unwrap_or(0);
    match error {
        DivisionError::ByZero => format!("element {element}: {dividend} is divided by 0"),
        DivisionError::Overflow => format!("element {element}: {dividend} divided by -1 does not fit {dtype}"),
    }
}

struct Machine<'a> {
    func: &'a Function,
    program: Program,
    /// The block's rank in its cluster.
    rank: u32,
    memory: &'a dyn Memory,
    values: Vec<Vec<u64>>,
    /// The threads' accesses and barriers; at stage 2.
    threads: Threads,
}

impl Machine<'_> {
    /// Runs a block, and returns what it yields.
    fn block(&mut self, block: Block) -> Result<Vec<Vec<u64>>, RunError> {
        let func = self.func;
        for (_, inst) in func.block(block) {
            if let Op::Yield {} = inst.op {
                return Ok(self.take(&inst.args));
            }
            self.instruction(inst)?;
        }
        Ok(Vec::new())
    }

    /// Runs an instruction but the last one of a region.
    fn instruction(&mut self, inst: &InstData) -> Result<(), RunError> {
        let func = self.func;
        match inst.op {
            Op::Yield {} => {}
            Op::For { start, end, step } => self.run_for(inst, [start, end, step])?,
            Op::While {} => self.run_while(inst)?,
            Op::Fold { kind, axis, order } => self.run_fold(inst, kind, axis as usize, order)?,
            shared_ops!() | Op::DotWait { .. } | Op::Sync { .. } => {
                let result = self.shared(inst).map_err(|what| self.error(inst, &what))?;
                self.bind(&inst.results, vec![result]);
            }
            Op::Permute { x, .. } | Op::Reshape { x, .. } if func.mem(x).is_some() => self.alias(x, inst.results[0]),
            ring_ops!() => {
                let result = self.ring(inst).map_err(|what| self.error(inst, &what))?;
                self.bind(&inst.results, vec![result]);
            }
            Op::Dot { a, b, acc, .. } => {
                let sums = self.run_product(inst, [a, b, acc]).map_err(|what| self.error(inst, &what))?;
                self.bind(&inst.results, vec![sums]);
            }
            Op::Assert { cond, message } => self.assertion(cond, message)?,
            Op::Print { text, values } => self.memory.print(&self.lines(text, values.as_slice())),
            Op::If { cond } => {
                let taken = usize::from(self.value(cond)[0] == 0);
                let results = self.block(inst.regions[taken])?;
                self.bind(&inst.results, results);
            }
            Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } | Op::AtomicCas { .. } => {
                if func.stage == Stage::Synchronized {
                    self.global(inst).map_err(|what| self.error(inst, &what))?;
                }
                self.compute(inst)?;
            }
            Op::TurnWait {} => self.threads.wait_for_turn().map_err(|what| self.error(inst, &what))?,
            Op::TurnPass {} => self.threads.pass_turn().map_err(|what| self.error(inst, &what))?,
            Op::Fence {} => {
                if func.stage == Stage::Synchronized {
                    self.threads.fence().map_err(|what| self.error(inst, &what))?;
                }
            }
            Op::Const { .. }
            | Op::Outer { .. }
            | Op::ProgramId { .. }
            | Op::NumPrograms { .. }
            | Op::ClusterRank { .. }
            | Op::BlockId { .. }
            | Op::NumBlocks { .. }
            | Op::Arange { .. }
            | Op::Splat { .. }
            | Op::Broadcast { .. }
            | Op::Reshape { .. }
            | Op::Permute { .. }
            | Op::Join { .. }
            | Op::Split { .. }
            | Op::Convert { .. }
            | Op::Cast { .. }
            | Op::Bitcast { .. }
            | Op::Select { .. }
            | Op::Offset { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. } => self.compute(inst)?,
            Op::Hint { kind, x, along } => {
                self.hint(kind, x, along).map_err(|what| self.error(inst, &what))?;
                self.compute(inst)?;
            }
            Op::ClusterGather { .. }
            | Op::ClusterScatter { .. }
            | Op::ClusterArrive { .. }
            | Op::ClusterWait { .. }
            | Op::ClusterSend { .. }
            | Op::ClusterReceive { .. } => return Err(self.error(inst, "the blocks of a cluster meet in a region")),
        }
        Ok(())
    }

    fn compute(&mut self, inst: &InstData) -> Result<(), RunError> {
        let result = self.step(inst).map_err(|what| self.error(inst, &what))?;
        self.bind(&inst.results, vec![result]);
        Ok(())
    }

    fn run_for(&mut self, inst: &InstData, bounds: [Value; 3]) -> Result<(), RunError> {
        let dtype = self.func.ty(bounds[0]).elem.num().unwrap_or(DType::I32);
        let [mut counter, end, step] = bounds.map(|v| Constant { dtype, bits: self.value(v)[0] }.as_int().unwrap_or(0));
        if step <= 0 && counter < end {
            return Err(self.error(inst, &format!("a loop with a step of {step}: it must be positive")));
        }
        let mut carried = self.take(&inst.args);
        let (func, region) = (self.func, inst.regions[0]);
        let mut from = &inst.args[..];
        let in_turns = func.teams > 1 && func.is_block_id(bounds[0]);
        while counter < end {
            if in_turns {
                self.threads.clocks.next_team();
            }
            let mut params = vec![vec![Constant::int(dtype, counter).bits]];
            params.append(&mut carried);
            self.bind(&func.blocks[region].params, params);
            self.threads.carry_sums(from, &func.blocks[region].params[1..]);
            carried = self.block(region)?;
            from = func.yielded(region);
            counter += step;
        }
        self.bind(&inst.results, carried);
        self.threads.carry_sums(from, &inst.results);
        Ok(())
    }

    fn run_while(&mut self, inst: &InstData) -> Result<(), RunError> {
        let func = self.func;
        let [condition, body] = inst.regions[..] else { return Err(self.error(inst, "a loop without a body")) };
        let mut carried = self.take(&inst.args);
        let mut from = &inst.args[..];
        loop {
            self.bind(&func.blocks[condition].params, carried.clone());
            self.threads.carry_sums(from, &func.blocks[condition].params);
            if self.block(condition)?.first().is_none_or(|c| c[0] == 0) {
                break;
            }
            self.bind(&func.blocks[body].params, carried);
            self.threads.carry_sums(from, &func.blocks[body].params);
            carried = self.block(body)?;
            from = func.yielded(body);
        }
        self.bind(&inst.results, carried);
        self.threads.carry_sums(from, &inst.results);
        Ok(())
    }

    fn value(&self, value: Value) -> &[u64] {
        &self.values[value.0 as usize]
    }

    fn take(&self, values: &[Value]) -> Vec<Vec<u64>> {
        values.iter().map(|&v| self.value(v).to_vec()).collect()
    }

    fn bind(&mut self, values: &[Value], contents: Vec<Vec<u64>>) {
        for (&value, content) in values.iter().zip(contents) {
            self.values[value.0 as usize] = content;
        }
    }

    /// One operation without regions.
    fn step(&self, inst: &InstData) -> Result<Vec<u64>, String> {
        let value = |v: Value| self.value(v);
        match inst.op {
            Op::ProgramId { axis } => Ok(vec![u64::from(self.program.id[axis.0 as usize])]),
            Op::NumPrograms { axis } => Ok(vec![u64::from(self.program.grid[axis.0 as usize])]),
            Op::ClusterRank {} => Ok(vec![self.rank.into()]),
            Op::BlockId {} => Ok(vec![self.program.number()]),
            Op::NumBlocks {} => Ok(vec![self.program.blocks()]),
            Op::Load { from, other } => {
                let Reached { addresses, mask } = self.reach(from)?;
                let mut out = other.map_or_else(|| vec![0; addresses.len()], |o| value(o).to_vec());
                let width = self.func.ty(inst.results[0]).elem.bits() / 8;
                let loaded = self.memory.load(width, &addresses, mask.as_deref(), &mut out);
                loaded.map_err(|fault| access_error("load", width, &fault)).map(|()| out)
            }
            Op::Store { to, value: stored } => {
                let Reached { addresses, mask } = self.reach(to)?;
                let width = self.func.ty(stored).elem.bits() / 8;
                let written = self.memory.store(width, &addresses, mask.as_deref(), value(stored));
                written.map_err(|fault| access_error("store", width, &fault)).map(|()| Vec::new())
            }
            Op::Atomic { kind, to, value: x, .. } => {
                let (dtype, x) = (self.func.ty(x).elem.num().ok_or("an update by a pointer")?, value(x));
                // None of these functions fails.
                let function = |f, i: usize, old| eval::binary_one(f, dtype, old, x[i]).unwrap_or(old);
                let replace = |i, old| kind.function().map_or(x[i], |f| function(f, i, old));
                self.update(to, dtype, &replace)
            }
            Op::AtomicCas { to, compare, value: x, .. } => {
                let (dtype, x) = (self.func.ty(x).elem.num().ok_or("an exchange of pointers")?, value(x));
                let compare = value(compare);
                self.update(to, dtype, &|i, old| if old == compare[i] { x[i] } else { old })
            }
            Op::Const { .. }
            | Op::Outer { .. }
            | Op::Arange { .. }
            | Op::Splat { .. }
            | Op::Broadcast { .. }
            | Op::Reshape { .. }
            | Op::Permute { .. }
            | Op::Join { .. }
            | Op::Split { .. }
            | Op::Convert { .. }
            | Op::Cast { .. }
            | Op::Bitcast { .. }
            | Op::Select { .. }
            | Op::Offset { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. }
            | Op::Hint { .. } => {
                let result =
                    evaluate(self.func, &inst.op, inst.results.first().copied(), &|v| Some(Cow::Borrowed(value(v))));
                let result = result.unwrap_or_else(|| Err(format!("`{}` is not well typed", inst.op.mnemonic())));
                let padded = || if let Op::Binary { b, .. } = inst.op { self.is_padding(b) } else { false };
                result.map_err(|what| if padded() { format!("{what}{PADDING}") } else { what })
            }
            // What `instruction` does itself.
            Op::ClusterGather { .. }
            | Op::ClusterScatter { .. }
            | Op::Dot { .. }
            | Op::Fence {}
            | Op::Assert { .. }
            | Op::Print { .. }
            | shared_ops!()
            | synchronizes!()
            | ring_ops!()
            | Op::For { .. }
            | Op::While {}
            | Op::If { .. }
            | Op::Yield {}
            | Op::Fold { .. } => Err(format!("`{}` is not computed from its operands alone", inst.op.mnemonic())),
        }
    }

    fn update(&self, to: Location, dtype: DType, replace: &dyn Fn(usize, u64) -> u64) -> Result<Vec<u64>, String> {
        let (Reached { addresses, mask }, width) = (self.reach(to)?, dtype.bytes());
        let mut out = vec![0; addresses.len()];
        let updated = self.memory.update(width, &addresses, mask.as_deref(), replace, &mut out);
        updated.map_err(|fault| access_error("atomic update", width, &fault)).map(|()| out)
    }

    fn error(&self, inst: &InstData, what: &str) -> RunError {
        RunError::Fault(ProgramFault::new(self.func, inst.span, self.program.id, what.to_owned()))
    }
}

fn access_error(what: &str, width: u32, fault: &Fault) -> String {
    let Fault { element, address, reason } = fault;
    format!("{what} of {width} bytes at {address:#x}, element {element} of the tile, is {reason}")
}
