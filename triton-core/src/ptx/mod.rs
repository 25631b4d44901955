//! PTX as typed instructions.
//!
//! [`lower`] makes a [`Kernel`] from IR at stage 1, [`mod@print`] writes it as text. Registers are untyped bits of three widths,
//! and predicates; the instruction says how they are read.
//!
//! **Invariant:** nothing before this folder names a PTX instruction, and text is only built in [`mod@print`].

mod assertions;
mod atomic;
mod bulk;
mod cast;
mod cluster;
mod control;
mod convert;
mod cut;
mod demand;
mod dot;
mod element;
mod elementwise;
mod entry;
mod fold;
mod footprint;
mod fragments;
mod loop_carried;
pub mod lower;
mod memory;
mod mma;
mod packed;
pub mod print;
mod program;
mod proxy;
mod registers;
mod ring;
mod run;
mod select;
mod shared;
mod stepped;
mod steps;
mod thread;
mod view;
mod wgmma;
mod words;

use crate::metadata::{ProgramMap, TensorMap};

use crate::ops::{MemoryOrder, Outer};
use crate::span::{Loc, Span};
pub use atomic::AtomicOp;
pub use mma::Mma;

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
    CvtRnTf32,
    FmaRn,
    FmaRnSat,
    FmaRm,
    MadLo,
    MadWide,
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

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are named as in the PTX manual")]
pub enum Op {
    Mov {
        ty: Ty,
        dst: Reg,
        src: Operand,
    },
    /// `mov.b32 r, {lo, hi}`, or `mov.b64` of two halves of 32 bits.
    Pack {
        dst: Reg,
        lo: Reg,
        hi: Reg,
    },
    /// `mov.b32 {lo, hi}, r`, or `mov.b64`.
    Unpack {
        lo: Reg,
        hi: Reg,
        src: Reg,
    },
    /// Byte `i` is the one that the selector's hexadecimal digit `i` names: 0 to 3 of `a`, 4 to 7 of `b`; with 8 added, its
    /// sign in all bits.
    Prmt {
        dst: Reg,
        a: Reg,
        b: Operand,
        selector: u16,
    },
    Arith {
        op: Opcode,
        ty: Ty,
        dst: Reg,
        srcs: Operands,
    },
    Setp {
        cmp: Cmp,
        ty: Ty,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Selp {
        ty: Ty,
        dst: Reg,
        a: Operand,
        b: Operand,
        pred: Reg,
    },
    Cvt {
        round: Round,
        to: Ty,
        from: Ty,
        dst: Reg,
        src: Reg,
    },
    LdParam {
        ty: Ty,
        dst: Reg,
        param: usize,
    },
    /// A generic address made one of global memory.
    ToGlobal {
        dst: Reg,
        src: Reg,
    },
    /// A generic address of global or of local memory.
    FromGlobal {
        dst: Reg,
        src: Reg,
    },
    FromLocal {
        dst: Reg,
        src: Reg,
    },
    /// One access to global memory, of as many words as there are registers: 1, 2 or 4.
    Ld {
        ty: Ty,
        dsts: Vec<Reg>,
        address: Address,
    },
    St {
        ty: Ty,
        srcs: Vec<Reg>,
        address: Address,
    },
    /// A word of global memory that other threads of the device update meanwhile.
    LdRelaxed {
        ty: Ty,
        dst: Reg,
        address: Address,
    },
    /// `atom`; `red` where the old value has no register, of as many words as there are operands. At device scope.
    Atomic {
        op: AtomicOp,
        order: MemoryOrder,
        ty: Ty,
        dst: Option<Reg>,
        address: Address,
        srcs: Vec<Reg>,
    },
    /// One access to shared memory, of 1, 2 or 4 words; the address is of 32 bits.
    LdShared {
        ty: Ty,
        dsts: Vec<Reg>,
        address: Address,
    },
    StShared {
        ty: Ty,
        srcs: Vec<Reg>,
        address: Address,
    },
    /// `ldmatrix`: as many matrices of eight rows of 16 bytes as there are registers. Lane `8·m + r` gives the address of row
    /// `r` of matrix `m`.
    LdMatrix {
        trans: bool,
        dsts: Vec<Reg>,
        address: Address,
    },
    /// `shfl.sync.bfly.b32`: the word of the lane whose index differs in these bits.
    ShflBfly {
        dst: Reg,
        src: Reg,
        lanes: u32,
    },
    /// `shfl.sync.idx.b32`: the word of a lane.
    ShflIdx {
        dst: Reg,
        src: Reg,
        lane: Operand,
    },
    /// `mma.sync` on one atom.
    Mma {
        atom: Mma,
        d: Vec<Reg>,
        a: Vec<Reg>,
        b: Vec<Reg>,
        c: Vec<Reg>,
    },
    /// `wgmma.mma_async` of a warpgroup: `d` is added to. `a` is four registers, or a descriptor as `b` is; `transposed`: the operand is
    /// not contiguous along K.
    Wgmma {
        kind: Mma,
        d: Vec<Reg>,
        a: Vec<Reg>,
        b: Reg,
        transposed: [bool; 2],
    },
    /// Registers that were written before may be read by `wgmma`.
    WgmmaFence,
    /// Ends a group of products.
    WgmmaCommit,
    /// Waits for all groups of products but the newest.
    WgmmaWait {
        groups: u32,
    },
    /// Makes an mbarrier whose phases end when this many threads have arrived, and the bytes that they expect.
    MbarrierInit {
        address: Address,
        count: u32,
    },
    /// What `MbarrierInit` wrote comes before what bulk copies do.
    FenceMbarrierInit,
    /// Arrives at an mbarrier, and lets its phase wait for this many bytes.
    MbarrierExpectTx {
        address: Address,
        bytes: u32,
    },
    /// Whether the phase of this parity has ended; of one for which other blocks count, at the scope of the cluster, that orders nothing.
    MbarrierTryWait {
        pred: Reg,
        address: Address,
        parity: Reg,
        of_cluster: bool,
    },
    /// The address in a block of the cluster that is this one in its own shared memory.
    Mapa {
        dst: Reg,
        src: Reg,
        rank: Operand,
    },
    /// `st.async`: words to shared memory of a block of the cluster, which its mbarrier counts when they have arrived.
    StAsync {
        ty: Ty,
        srcs: Vec<Reg>,
        address: Address,
        barrier: Address,
    },
    /// What messages wrote that have arrived comes before what this thread reads.
    FenceMessages,
    /// What this thread knows of its shared memory comes before what it tells another block of the cluster.
    FenceRelease,
    /// Arrives at an mbarrier of a block of the cluster, and orders nothing.
    MbarrierArriveRelaxed {
        address: Address,
    },
    /// Arrives at the barrier of the cluster, and orders nothing.
    ClusterArrive,
    /// Waits at the barrier of the cluster.
    ClusterWait,
    /// `cp.async.bulk.tensor` from global to shared memory: the box of a map that begins at these coordinates, the contiguous one first.
    BulkLoad {
        dst: Address,
        map: Reg,
        coordinates: Vec<Reg>,
        barrier: Address,
        /// The number of blocks of the cluster to all of which it copies, at the same address, if not to this one alone.
        multicast: Option<u32>,
    },
    /// Holds in one thread of a warp.
    Elect {
        pred: Reg,
    },
    /// The generic address of a parameter.
    FromParam {
        dst: Reg,
        src: Reg,
    },
    /// Accesses of this thread to shared memory come before those of `wgmma` and of bulk copies that follow a barrier.
    /// Orders the thread's accesses as other threads of the device see them.
    FenceAcqRel,
    FenceProxyAsync,
    /// `stmatrix`: the reverse of `ldmatrix`.
    StMatrix {
        trans: bool,
        srcs: Vec<Reg>,
        address: Address,
    },
    /// A jump target.
    Label {
        label: u32,
    },
    /// Jumps where the predicate holds (`unless`: where it does not), or always. `uniform`: all threads of a warp agree.
    Bra {
        label: u32,
        pred: Option<Reg>,
        unless: bool,
        uniform: bool,
    },
    /// `cp.async`: 4, 8 or 16 bytes from global to shared memory, of which those in bounds are read; the others are 0.
    CpAsync {
        bytes: u32,
        dst: Address,
        src: Address,
        in_bounds: Reg,
    },
    /// Ends a group of copies.
    CpAsyncCommit,
    /// Waits for all of the thread's groups but the newest.
    CpAsyncWait {
        groups: u32,
    },
    /// A barrier of all threads of the block.
    BarSync,
    /// A barrier of all threads of the warp, which makes their stores visible.
    BarWarpSync,
    Ret,
    /// Stores four words to global memory at once, visible to the host.
    StVolatile {
        srcs: Vec<Reg>,
        address: Reg,
    },
    /// A fence at system scope: earlier writes are visible to all.
    MembarSys,
    /// Stops the launch.
    Trap,
    /// Stores 64 bits to the thread's local memory.
    StLocal {
        src: Reg,
        offset: u32,
    },
    /// A call of `vprintf` with generic addresses.
    Printf {
        format: Reg,
        list: Reg,
    },
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
    /// The line it was made for.
    pub loc: Option<Loc>,
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
    /// Source files, for line tables.
    pub files: Vec<String>,
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
