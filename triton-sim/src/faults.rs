//! Faults, which is what the simulator finds: a typed report with the location in the PTX text, in the user's source and in the grid.

mod display;

pub use crate::access::AccessKind;
use crate::parse::ast::Pos;
use std::fmt;

/// A mistake of a program, where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What is wrong.
    pub fault: Fault,
    /// Name of the kernel.
    pub kernel: String,
    /// The instruction that was about to run.
    pub site: Site,
    /// The block in the grid.
    pub block: [u32; 3],
    /// The warp in the block.
    pub warp: u32,
    /// The lowest lane of those concerned.
    pub lane: u32,
    /// How often the same was found again.
    pub repeats: Repeats,
}

/// What a report stands for beside the first time: the same fault of the same instruction, or of others with its operation code
/// generated from the same source location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeats {
    /// Executions by a warp.
    pub times: u64,
    /// Other instructions.
    pub instructions: u32,
    /// Other blocks; at most 65535 are told apart.
    pub blocks: u32,
}

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// As written.
    pub instruction: String,
    /// Its position in the PTX text.
    pub pos: Pos,
    /// The location in the user's source, of the last `.loc`: file, line, column.
    pub source: Option<(String, u32, u32)>,
}

/// A state space of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Memory of the device.
    Global,
    /// Shared memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// Parameters of the kernel.
    Param,
    /// Constants.
    Const,
}

/// What is wrong. Addresses are those that the program used; of shared memory, bytes from the start of its window.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An access to memory that nothing was allocated at.
    OutOfBounds {
        /// The space.
        space: Space,
        /// First byte.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Read or written.
        access: AccessKind,
        /// What lies near: `40 bytes past the end of the 1024 bytes at 0x…`.
        near: String,
    },
    /// An access to memory that was freed.
    UseAfterFree {
        /// First byte.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Read or written.
        access: AccessKind,
    },
    /// An address that is not a multiple of what the instruction needs.
    Misaligned {
        /// The space.
        space: Space,
        /// The address.
        address: u64,
        /// Needed alignment in bytes.
        needed: u32,
    },
    /// A register was read before anything was written to it.
    UninitializedRegister {
        /// Its name.
        register: String,
    },
    /// Shared or local memory was read before anything was written to it.
    UninitializedMemory {
        /// The space.
        space: Space,
        /// The first such byte.
        address: u64,
    },
    /// Two accesses of which one writes, and nothing orders them.
    ///
    /// Not reported, though PTX leaves every data race undefined: two weak writes of equal values by one instruction and
    /// threads of one block. What is there then is that value, whichever comes last.
    Race {
        /// The space.
        space: Space,
        /// The first byte that both touch.
        address: u64,
        /// This access.
        access: AccessKind,
        /// The other one.
        other: AccessKind,
        /// Its instruction.
        site: Site,
        /// Its thread: block, warp, lane.
        thread: ([u32; 3], u32, u32),
    },
    /// An access of the async proxy to what the generic proxy wrote, in order but without a proxy fence between them.
    ProxyFence {
        /// The space.
        space: Space,
        /// The first such byte.
        address: u64,
        /// The write.
        site: Site,
    },
    /// Bytes of global memory that the launch both reads with `ld.global.nc` and writes, in either order: the cache of such
    /// loads is not coherent with writes.
    ReadOnly {
        /// The first such byte.
        address: u64,
        /// This access.
        access: AccessKind,
        /// The other one.
        other: AccessKind,
        /// Its instruction.
        site: Site,
        /// Its thread: block, warp, lane.
        thread: ([u32; 3], u32, u32),
    },
    /// Lanes that must be together are not: some of them are elsewhere, or have ended.
    Divergence {
        /// Lanes that are here.
        here: u32,
        /// Lanes that are needed.
        needed: u32,
        /// Why: in words.
        why: String,
    },
    /// A barrier (`bar.sync`, `barrier.cluster`) used against its rules.
    Barrier {
        /// Its number.
        barrier: u32,
        /// The rule that was broken.
        problem: String,
    },
    /// An mbarrier used against its rules.
    Mbarrier {
        /// Its address.
        address: u64,
        /// The rule that was broken.
        problem: MbarrierProblem,
    },
    /// No warp can make progress.
    Deadlock {
        /// What each warp waits for.
        waits: Vec<Wait>,
    },
    /// Some warps run loops that can never end: no memory changes, and their registers are what they were before.
    Livelock {
        /// What each warp waits for, or where its loop is.
        waits: Vec<Wait>,
    },
    /// A limit of the options was reached. Whether the launch would have ended is not known.
    Limit {
        /// The field of [`Options`](crate::Options): `idle_limit`, `max_instructions` or `after_report`.
        option: &'static str,
        /// Its value.
        limit: u64,
        /// Warp instructions since anything changed that another warp could see.
        idle: u64,
        /// Warp instructions of the launch.
        ran: u64,
        /// What each warp waits for, or where its loop is and how many iterations it has run.
        waits: Vec<Wait>,
    },
    /// A register of an unfinished `wgmma` was read or written.
    RegisterInFlight {
        /// Its name.
        register: String,
    },
    /// A `wgmma` used against its rules, or the warps of a warpgroup run different ones.
    Wgmma {
        /// The rule that was broken.
        problem: String,
    },
    /// A matrix descriptor that the hardware would not understand, or that names other memory than was meant.
    Descriptor {
        /// Its bits.
        bits: u64,
        /// The rule that was broken.
        problem: String,
    },
    /// A tensor map, or a copy through it, that breaks a rule.
    TensorMap {
        /// The rule that was broken.
        problem: String,
    },
    /// A block ended while asynchronous work still used its memory.
    UnfinishedAtExit {
        /// What was not waited for.
        what: String,
    },
    /// An operand with a value that the instruction does not allow, or for which its result is not defined (a division by
    /// zero).
    Operand {
        /// The rule that was broken.
        problem: String,
    },
    /// `trap`
    Trap,
    /// `__assertfail`
    Assertion {
        /// The text, the file and the line that it was called with.
        message: String,
    },
}

/// How an mbarrier was misused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MbarrierProblem {
    /// It was never initialised, or invalidated.
    NotInitialised,
    /// Initialised while it is one.
    InitialisedTwice,
    /// Its memory was accessed with ordinary instructions.
    Overwritten,
    /// A count that is not in 1 to 2^20 - 1.
    Count {
        /// The count.
        count: u64,
    },
    /// More arrivals than the phase expects.
    TooManyArrivals {
        /// Expected in all.
        expected: u32,
    },
    /// The count of bytes left its range.
    Bytes {
        /// Bytes that are still expected; negative: that came too many.
        pending: i64,
    },
    /// An arrival with `.noComplete` that completes the phase.
    Completes,
    /// Used by the async proxy or another block before `fence.mbarrier_init`.
    NotFenced,
}

/// Why a warp stands still.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// Its block.
    pub block: [u32; 3],
    /// Its number in the block.
    pub warp: u32,
    /// Its lanes that wait here.
    pub lanes: u32,
    /// Where.
    pub site: Site,
    /// What for.
    pub reason: String,
}

impl Fault {
    /// A word for the kind of the fault.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::OutOfBounds { .. } => "out-of-bounds",
            Fault::UseAfterFree { .. } => "use-after-free",
            Fault::Misaligned { .. } => "misaligned",
            Fault::UninitializedRegister { .. } => "uninitialized-register",
            Fault::UninitializedMemory { .. } => "uninitialized-memory",
            Fault::Race { .. } => "race",
            Fault::ProxyFence { .. } => "proxy-fence",
            Fault::ReadOnly { .. } => "read-only",
            Fault::Divergence { .. } => "divergence",
            Fault::Barrier { .. } => "barrier",
            Fault::Mbarrier { .. } => "mbarrier",
            Fault::Deadlock { .. } => "deadlock",
            Fault::Livelock { .. } => "livelock",
            Fault::Limit { .. } => "limit",
            Fault::RegisterInFlight { .. } => "register-in-flight",
            Fault::Wgmma { .. } => "wgmma",
            Fault::Descriptor { .. } => "descriptor",
            Fault::TensorMap { .. } => "tensor-map",
            Fault::UnfinishedAtExit { .. } => "unfinished-at-exit",
            Fault::Operand { .. } => "operand",
            Fault::Trap => "trap",
            Fault::Assertion { .. } => "assertion",
        }
    }
}

impl Site {
    /// The instruction, with `…` instead of the middle of a long one.
    pub(crate) fn short(&self) -> String {
        const MAX: usize = 100;
        let text = &self.instruction;
        let count = text.chars().count();
        if count <= MAX {
            return text.clone();
        }
        let begin: String = text.chars().take(MAX / 2 + 10).collect();
        let end: String = text.chars().skip(count - (MAX / 2 - 10)).collect();
        format!("{begin} … {end}")
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}:{}", self.short(), self.pos.line, self.pos.column)?;
        match &self.source {
            Some((file, line, column)) => write!(f, " ({file}:{line}:{column})"),
            None => Ok(()),
        }
    }
}
