//! PTX as typed instructions.
//!
//! [`lower`] makes a [`Kernel`] from IR at stage 2, [`text::print`](mod@text::print) writes it as text. Registers are untyped bits of three widths,
//! and predicates; the instruction says how they are read.
//!
//! **Invariant:** nothing before this folder names a PTX instruction, and text is only built in [`text::print`](mod@text::print).

mod arithmetic;
mod code;
mod control;
pub mod lower;
mod memory;
mod mma;
mod op;
mod products;
pub mod text;

use crate::metadata::{ProgramMap, TensorMap};
use crate::ops::Outer;
use crate::span::{Sources, Span};
pub use mma::Mma;
pub use op::Op;

/// Bytes of text that a kernel may have.
pub const MAX_TEXT: usize = 4 << 20;

/// How wide a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One bit.
    Pred,
    /// 16 bits; 8-bit numbers live here, extended by their sign.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg {
    /// Its width.
    pub class: Class,
    /// Its number within the class.
    pub index: u32,
}

impl Reg {
    /// What nothing reads, and is not emitted.
    pub(crate) const NONE: Reg = Reg { class: Class::Pred, index: u32::MAX };
}

/// How an instruction reads its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is PTX's type of that name")]
pub enum Ty {
    Pred,
    B8,
    U8,
    S8,
    B16,
    U16,
    S16,
    B32,
    U32,
    S32,
    B64,
    U64,
    S64,
    F16,
    BF16,
    F16x2,
    BF16x2,
    F32,
    F64,
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// An integer, or bits.
    Int(i64),
    /// A register of the hardware.
    Special(Special),
    /// A number, or a placeholder for one, of this many hexadecimal digits.
    Outer(Outer, u8),
}

/// What an arithmetic instruction reads: at most three operands, inline, as most instructions are arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    all: [Operand; 3],
    count: usize,
}

impl Operands {
    /// The first three of these.
    pub fn new(operands: &[Operand]) -> Operands {
        let mut all = [Operand::Int(0); 3];
        let count = operands.len().min(all.len());
        all[..count].copy_from_slice(&operands[..count]);
        Operands { all, count }
    }

    /// In order.
    pub fn as_slice(&self) -> &[Operand] {
        &self.all[..self.count]
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [Operand] {
        &mut self.all[..self.count]
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Operand::Reg(reg)
    }
}

impl From<i64> for Operand {
    fn from(int: i64) -> Self {
        Operand::Int(int)
    }
}

/// A register of the hardware; 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The thread's index in its block.
    Tid,
    /// The block's index along an axis.
    Ctaid(u8),
    /// The number of blocks along an axis.
    Nctaid(u8),
    /// The index of the block's cluster along an axis.
    ClusterId(u8),
    /// The number of clusters along an axis.
    NclusterId(u8),
    /// The block's rank in its cluster.
    ClusterRank,
    /// The address of dynamic shared memory.
    Shared,
    /// The address of the thread's local memory.
    Local,
    /// The address of a text of the module.
    Text(u32),
    /// The address of a parameter in parameter space.
    Param(u32),
}

/// Arithmetic on registers of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is PTX's instruction of that name; the suffix is its modifier")]
pub enum Opcode {
    Add,
    AddRn,
    Sub,
    SubRn,
    MulLo,
    MulHi,
    MulRn,
    Div,
    DivRn,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    Not,
    Popc,
    Shl,
    Shr,
    ShfL,
    Neg,
    Abs,
    SqrtRn,
    RcpRn,
    Rsqrt,
    Ex2,
    Ex2Ftz,
    TanhApprox,
    CvtRnTf32,
    FmaRn,
    FmaRnSat,
    FmaRm,
    MadLo,
    MadWide,
}

/// What an atomic update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is PTX's operation of that name")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is PTX's comparison of that name; the last two see NaN")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Neu,
    Nan,
}

/// Rounding of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// None is written: the conversion is exact or between integers.
    None,
    /// To nearest even.
    Rn,
    /// Towards zero, to a float.
    Rz,
    /// Towards zero, to an integer, of an integer type or of the float's own.
    Rzi,
    /// Downwards, to an integer.
    Rmi,
    /// Upwards, to an integer.
    Rpi,
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The register that holds the address.
    pub base: Reg,
    /// The offset from it in bytes.
    pub offset: i32,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// It runs only where this predicate holds.
    pub guard: Option<Reg>,
    /// What it does.
    pub op: Op,
    /// What it was made for.
    pub span: Span,
}

/// What the assembler bounds the registers of a thread by: one of these, since an occupancy is a bound, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Nothing but the number of threads.
    None,
    /// A requested occupancy, in blocks per multiprocessor.
    Blocks(u32),
    /// A number.
    Registers(u32),
}

/// An entry point: one module of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// PTX language version.
    pub version: (u32, u32),
    /// `sm_80`.
    pub target: &'static str,
    /// The entry point's name.
    pub entry: String,
    /// Type of each parameter of the kernel.
    pub params: Vec<Ty>,
    /// The tensor maps that follow them.
    pub maps: Vec<TensorMap>,
    /// Threads of a block, exactly.
    pub threads: u32,
    /// Blocks of a cluster, along the first axis.
    pub cluster: u32,
    /// What the registers of a thread are bounded by.
    pub bounds: Bounds,
    /// Registers that a thread needs at least, as [`pressure`](crate::analysis::pressure) estimates them.
    pub pressure: u32,
    /// Where spans lie, for line tables.
    pub sources: Sources,
    /// Number of registers of each class, in the order of [`Class`].
    pub registers: [u32; 4],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// Its alignment.
    pub shared_align: u32,
    /// The most instructions of one operation, and where it is.
    pub largest: (usize, Span),
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Texts of the module.
    pub texts: Vec<String>,
    /// The mapping of blocks to programs, and so whether the numbers of programs follow the maps as parameters.
    pub programs: ProgramMap,
    /// Whether the last parameter is the address where a failed assertion is described.
    pub report: bool,
    /// The instructions.
    pub body: Vec<Inst>,
}
