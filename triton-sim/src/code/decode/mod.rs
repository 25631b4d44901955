//! From the text's instructions to [`Instr`]: words become functions, names become numbers.
//!
//! Each family of instructions has a file. An unknown instruction is an error with its line: nothing is skipped.

mod arith;
mod bulk;
mod call;
mod convert;
mod memory;
mod operand;
mod sync;
mod words;

use super::link::{Linked, link};
use super::{Instr, Kernel, Op, Slot};
use crate::ParseError;
use crate::faults::Site;
use crate::parse::ast::{self, Entry, Instruction, Module, Operand, Space, Variable};
use operand::describe;
use std::collections::HashMap;
use words::Words;

/// The first byte of a block's shared memory: below it the hardware keeps its own.
pub(crate) const SHARED_BASE: u32 = 1024;

/// The largest end of shared memory: a block of sm_90 has 227 KiB, and 1 KiB is the hardware's.
pub(crate) const MAX_SHARED: u32 = 228 << 10;

/// The most bytes of parameters of a kernel (PTX ISA, "Kernel Function Parameters").
const MAX_PARAMS: u32 = 32764;

/// The most bytes of local memory of a thread (CUDA, "Compute Capabilities").
const MAX_LOCAL: u32 = 512 << 10;

/// Decodes a kernel of a module.
///
/// # Errors
/// The first unsupported instruction, or the first whose operands do not match.
pub(crate) fn decode(module: &Module, entry: &Entry) -> Result<Kernel, ParseError> {
    let linked = link(module, entry)?;
    let entry = &*linked.entry;
    let layout = Layout::new(module, entry)?;
    let mut params = Vec::new();
    let mut end = 0;
    for param in &entry.params {
        let offset = allocate(&mut end, param, MAX_PARAMS)?;
        params.push(Slot { name: param.name.clone(), offset, bytes: end - offset });
    }
    let mut instructions = Vec::with_capacity(entry.instructions.len());
    let mut sites = Vec::with_capacity(entry.instructions.len());
    for (index, inst) in entry.instructions.iter().enumerate() {
        let cx = Decoder { module, entry, linked: &linked, layout: &layout, params: &params, inst, index };
        instructions.push(Instr { guard: inst.guard, op: cx.decode()? });
        let source = inst.loc.map(|loc| {
            let file = module.files.iter().find(|(number, _)| *number == loc.file).map_or("?", |(_, name)| name);
            (file.to_string(), loc.line, loc.column)
        });
        sites.push(Site { instruction: inst.text.clone(), pos: inst.pos, source });
    }
    let groups = groups(&sites);
    let mut registers: Vec<String> = entry.registers.iter().map(|r| r.name.clone()).collect();
    let wide = entry.registers.iter().filter(|r| r.ty == ast::Type::B(128));
    registers.extend(wide.map(|r| format!("the upper half of {}", r.name)));
    registers.push("the carry flag".to_string());
    Ok(Kernel {
        name: entry.name.clone(),
        instructions,
        sites,
        groups,
        registers,
        params,
        dynamic: layout.dynamic,
        local: layout.local,
        required_threads: entry.required_threads,
        max_threads: entry.max_threads,
        cluster: entry.cluster,
        explicit_cluster: entry.explicit_cluster,
        max_registers: registers_at_launch(entry),
    })
}

/// Of each instruction, the first with the same operation code generated from the same source location.
fn groups(sites: &[Site]) -> Vec<u32> {
    let mut firsts = HashMap::new();
    let group = |(pc, site): (u32, &Site)| {
        let opcode = site.instruction.split(' ').next().unwrap_or_default().to_string();
        site.source.as_ref().map_or(pc, |source| *firsts.entry((source.clone(), opcode)).or_insert(pc))
    };
    (0..).zip(sites).map(group).collect()
}

/// Registers of a thread when a block starts, if the bounds tell: `machine/registers.rs` has the model.
fn registers_at_launch(entry: &Entry) -> Option<u32> {
    // No block has more threads, whatever the bounds say.
    let product = |t: [u32; 3]| t.iter().fold(1, |n: u32, &e| n.saturating_mul(e)).clamp(1, 1024);
    let threads = entry.required_threads.or(entry.max_threads).map(product);
    let blocks = entry.min_blocks.unwrap_or(1).clamp(1, 32);
    // The hardware allocates registers in units of 8, to four warps at a time.
    let most =
        threads.map(|threads| 65536 / (threads.next_multiple_of(128) * blocks) / 8 * 8).filter(|most| *most < 256);
    let given = entry.max_registers.map(|given| given.min(255).next_multiple_of(8));
    match (given, most) {
        (Some(given), Some(most)) => Some(given.min(most)),
        (given, most) => given.or(most),
    }
}

/// The addresses of variables.
struct Layout {
    /// Address of each variable of the module in shared memory; of others their number among those in memory.
    module: Vec<u32>,
    /// Offset of each variable of the kernel in its space; parameters of calls and functions are local memory.
    kernel: Vec<u32>,
    /// Address of dynamic shared memory: where static shared memory ends, aligned.
    dynamic: u32,
    /// Bytes of local memory.
    local: u32,
}

impl Layout {
    fn new(module: &Module, entry: &Entry) -> Result<Layout, ParseError> {
        let (mut shared, mut local, mut align) = (SHARED_BASE, 0, 16);
        let mut of_module = Vec::new();
        for v in &module.variables {
            of_module.push(match v.space {
                Space::Shared if v.bytes.is_some() => allocate(&mut shared, v, MAX_SHARED)?,
                Space::Shared => {
                    align = align.max(v.align);
                    0
                }
                Space::Global | Space::Local | Space::Const | Space::Param => 0,
            });
        }
        let mut of_kernel = Vec::new();
        for v in &entry.variables {
            of_kernel.push(match v.space {
                Space::Shared => allocate(&mut shared, v, MAX_SHARED)?,
                Space::Local | Space::Param => allocate(&mut local, v, MAX_LOCAL)?,
                Space::Global | Space::Const => {
                    return Err(error(v.pos, format!("`{}` must be declared outside the kernel", v.name)));
                }
            });
        }
        let dynamic = shared.next_multiple_of(align);
        for (slot, v) in of_module.iter_mut().zip(&module.variables) {
            if v.space == Space::Shared && v.bytes.is_none() {
                *slot = dynamic;
            }
        }
        Ok(Layout { module: of_module, kernel: of_kernel, dynamic, local })
    }
}

/// Appends a variable to its space, aligned; returns its first byte.
fn allocate(end: &mut u32, v: &Variable, most: u32) -> Result<u32, ParseError> {
    let bytes = v.bytes.unwrap_or(0);
    let start = end.checked_next_multiple_of(v.align.max(1));
    let after = start.and_then(|start| start.checked_add(u32::try_from(bytes).ok()?));
    match (start, after) {
        (Some(start), Some(after)) if after <= most => {
            *end = after;
            Ok(start)
        }
        _ => Err(error(v.pos, format!("the {bytes} bytes of `{}` do not fit into their space", v.name))),
    }
}

fn error(pos: ast::Pos, message: String) -> ParseError {
    ParseError { line: pos.line, column: pos.column, message }
}

/// One instruction.
struct Decoder<'a> {
    module: &'a Module,
    entry: &'a Entry,
    linked: &'a Linked<'a>,
    layout: &'a Layout,
    params: &'a [Slot],
    inst: &'a Instruction,
    /// Its number.
    index: usize,
}

/// What decoding of a family gives.
type Decoded = Result<Op, ParseError>;

impl<'a> Decoder<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(error(self.inst.pos, message.into()))
    }

    fn decode(&self) -> Decoded {
        let mut words = Words::new(self.inst);
        let op = match words.first() {
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min" | "max" | "and" | "or"
            | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "prmt" | "popc" | "clz" | "brev" | "bfe"
            | "bfi" | "bfind" | "sad" | "dp4a" | "dp2a" | "mul24" | "mad24" | "addc" | "subc" | "madc" | "sqrt"
            | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "copysign" | "szext" | "bmsk" | "fns" => {
                self.arithmetic(&mut words)
            }
            "mov" | "cvt" | "selp" | "slct" | "set" | "setp" | "testp" => self.value(&mut words),
            "cvta" | "isspacep" | "mapa" | "getctarank" | "ld" | "ldu" | "st" | "atom" | "red" | "prefetch"
            | "prefetchu" | "discard" | "applypriority" | "createpolicy" | "ldmatrix" | "stmatrix" | "movmatrix"
            | "call" => self.memory(&mut words),
            "cp" | "mma" | "wgmma" | "mbarrier" | "tensormap" => self.engine(&mut words),
            _ => self.control(&mut words),
        }?;
        words.end(self.inst)?;
        Ok(op)
    }

    /// Checks the number of operands.
    fn count(&self, counts: std::ops::RangeInclusive<usize>) -> Result<usize, ParseError> {
        let found = self.inst.operands.len();
        if counts.contains(&found) {
            return Ok(found);
        }
        let (least, most) = (counts.start(), counts.end());
        let expected = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        self.error(format!("`{}` takes {expected} operands, found {found}", self.inst.opcode.join(".")))
    }

    fn operand(&self, index: usize) -> Result<&'a Operand, ParseError> {
        match self.inst.operands.get(index) {
            Some(operand) => Ok(operand),
            None => self.error(format!("operand {} of `{}` is missing", index + 1, self.inst.opcode.join("."))),
        }
    }
}
