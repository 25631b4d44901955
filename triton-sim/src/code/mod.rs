//! A kernel ready to run: every instruction is decoded once, names and words are gone.

mod call;
mod decode;
mod engine;
mod link;
mod op;
mod operand;

pub use crate::check::{Fence, Ordering};
use crate::faults::Site;
pub use crate::num::Scalar;
pub use call::{Call, CallOperand};
pub(crate) use decode::{MAX_SHARED, SHARED_BASE, decode};
pub use engine::{
    AsyncStore, Bulk, BulkCopy, Extent, MapReduce, MbarrierOp, MbarrierOrder, MbarrierScope, Operand, ProxySpaces,
    Reduce, WaitFor, WgmmaOp,
};
pub use op::{Class, Op};
pub use operand::{Addr, Order, Regs, Scope, Special, Src, Window};

/// Number of a register of the kernel.
pub type Reg = u32;

/// A kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The instructions; a jump beyond the end ends the thread.
    pub instructions: Vec<Instr>,
    /// Where each instruction stands.
    pub sites: Vec<Site>,
    /// Of each instruction, the first with the same operation code generated from the same source location.
    pub groups: Vec<u32>,
    /// Names of the registers, of the upper halves of those of 128 bits, and the carry flag's, the last.
    pub registers: Vec<String>,
    /// Offset and size of each parameter in the parameter space.
    pub params: Vec<Slot>,
    /// Address of dynamic shared memory: where static shared memory ends, aligned.
    pub dynamic: u32,
    /// Local memory of a thread in bytes.
    pub local: u32,
    /// `.reqntid`
    pub required_threads: Option<[u32; 3]>,
    /// `.maxntid`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// Whether the launch must name a cluster.
    pub explicit_cluster: bool,
    /// Registers of a thread when the block starts, if the bounds tell: see `machine/registers.rs`.
    pub max_registers: Option<u32>,
}

/// A parameter's offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The parameter's name.
    pub name: String,
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instr {
    /// Runs only in lanes where this register is, or with `true` is not, set.
    pub guard: Option<(Reg, bool)>,
    /// What it does.
    pub op: Op,
}

/// What memory is accessed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Bytes of an element.
    pub bytes: u8,
    /// Whether a load extends the sign; to how many bytes does not matter, registers are read by width.
    pub signed: bool,
    /// Bytes of the registers.
    pub register_bytes: u8,
}

/// `inc`: up to a limit, and from there to 0.
pub(crate) fn inc(old: u64, limit: u64, _: u64) -> u64 {
    if old >= limit { 0 } else { old + 1 }
}

/// `dec`: down to 0, and from there, or from above a limit, to the limit.
pub(crate) fn dec(old: u64, limit: u64, _: u64) -> u64 {
    if old == 0 || old > limit { limit } else { old - 1 }
}

/// An update of memory.
#[derive(Clone, Copy, Debug)]
pub enum AtomOp {
    /// By a function of old value and operand: in shared memory, and elsewhere.
    Update(Scalar, Scalar),
    /// Exchange.
    Exchange,
    /// Compare and swap.
    Compare,
}

/// `shfl.sync`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

/// `vote.sync` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// `and`, `or`, `xor` of predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Bool {
    And,
    Or,
    Xor,
}

/// What `bar` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// Arrive and wait.
    Sync,
    /// Arrive.
    Arrive,
    /// Arrive, wait, count the lanes whose predicate holds.
    Popc,
    /// Arrive, wait, combine predicates.
    Combine(Bool),
}
