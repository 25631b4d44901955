//! The operations of the machine.

use super::{
    Addr, AsyncStore, AtomOp, Bar, Bool, BulkCopy, Call, CallOperand, Cell, Fence, MbarrierOp, Order, ProxySpaces, Reg,
    Regs, Scalar, Shuffle, Src, Vote, WgmmaOp, Window,
};
use crate::faults::Space;

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Op {
    /// Nothing that can be seen: `prefetch`, `nanosleep`, `griddepcontrol`, …
    Nop,
    /// A function of up to three values.
    Alu(Scalar, Reg, [Src; 3]),
    /// As [`Op::Alu`], whose result is signed and is extended to the register.
    Extend {
        /// The function.
        function: Scalar,
        /// Gets the result.
        dst: Reg,
        /// The values.
        src: [Src; 3],
        /// Bytes of the result.
        from_bytes: u8,
        /// Bytes of the register.
        to_bytes: u8,
    },
    /// A property of one value, to a predicate.
    Test(fn(u64) -> bool, Reg, Src),
    /// A function of four values.
    Alu4(fn(u64, u64, u64, u64) -> u64, Reg, [Src; 4]),
    /// As [`Op::Alu`], of a division: both operands must allow it.
    Divide {
        /// The function.
        function: Scalar,
        /// Whether the quotient of two operands is defined.
        defined: fn(u64, u64) -> bool,
        /// Gets the result.
        dst: Reg,
        /// Dividend and divisor.
        src: [Src; 2],
    },
    /// A function of three values and the carry flag.
    Carry {
        /// The function, to (value, carry).
        function: fn(u64, u64, u64, u64) -> (u64, u64),
        /// Gets the value.
        dst: Reg,
        /// The values.
        src: [Src; 3],
        /// Whether it sets the carry flag.
        sets_carry: bool,
    },
    /// `setp`: the comparison, combined with a predicate; its negation, combined too, goes to the second register.
    Setp {
        /// The comparison; of both halves for packed types.
        compare: fn(u64, u64) -> bool,
        /// Whether the operands are two halves, and each goes to its own register.
        packed: bool,
        /// Gets the answer.
        dst: Option<Reg>,
        /// Gets the negation.
        negated: Option<Reg>,
        /// What is compared.
        src: [Src; 2],
        /// A predicate to combine with.
        combine: Option<(Bool, Src)>,
    },
    /// `set`: as `setp`, but the answer is a number for true, else 0.
    Set {
        /// The comparison.
        compare: fn(u64, u64) -> bool,
        /// Whether both halves are compared, to both halves.
        packed: bool,
        /// The number for true.
        yes: u64,
        /// Gets the answer.
        dst: Reg,
        /// What is compared.
        src: [Src; 2],
        /// A predicate to combine with.
        combine: Option<(Bool, Src)>,
    },
    /// Values to as many registers.
    Move(Regs, Box<[Src]>),
    /// `lop3` with a predicate: the function of three values by its table; whether it is not 0, combined with a predicate,
    /// goes to the second register.
    Lop3 {
        /// The function.
        table: u8,
        /// Gets the bits.
        dst: Option<Reg>,
        /// Gets the answer.
        holds: Option<Reg>,
        /// The values.
        src: [Src; 3],
        /// A predicate to combine with.
        combine: (Bool, Src),
    },
    /// Many registers to one.
    Pack {
        /// Gets all bits.
        dst: Reg,
        /// The parts, lowest first.
        src: Box<[Src]>,
        /// Bits of a part.
        bits: u8,
    },
    /// One value to many registers.
    Unpack {
        /// Get the parts, lowest first.
        dst: Regs,
        /// The value.
        src: Src,
        /// Bits of a part.
        bits: u8,
    },
    /// To an instruction, by number.
    Branch(u32),
    /// Ends the thread.
    Exit,
    /// Ends the launch.
    Trap,
    /// `vprintf`
    Print {
        /// Parameters of text and arguments.
        src: [CallOperand; 2],
        /// Gets the result.
        dst: Option<CallOperand>,
    },
    /// `__assertfail`: parameters of message, file, line.
    AssertFail(Box<[CallOperand; 3]>),
    /// To a function.
    Call(Box<Call>),
    /// Returns from a function, by the register with the return address.
    Return(Reg),
    /// A load.
    Load {
        /// Where from.
        window: Window,
        /// Its order.
        order: Order,
        /// Of an element.
        cell: Cell,
        /// Gets the elements.
        dst: Regs,
        /// The address.
        addr: Addr,
        /// `.nc`: through the read-only path.
        read_only: bool,
    },
    /// A store.
    Store {
        /// Where to.
        window: Window,
        /// Its order.
        order: Order,
        /// Of an element.
        cell: Cell,
        /// The elements.
        src: Box<[Src]>,
        /// The address.
        addr: Addr,
    },
    /// An atomic update; a vector has one element for each operand.
    Atom {
        /// Where.
        window: Window,
        /// Its order.
        order: Order,
        /// Bytes of an element.
        bytes: u8,
        /// How.
        op: AtomOp,
        /// Get the old values.
        dst: Regs,
        /// The operands; for compare-and-swap, the new values.
        src: Box<[Src]>,
        /// What compare-and-swap compares with.
        compare: Option<Src>,
        /// The address.
        addr: Addr,
    },
    /// `cvta`, `isspacep`, `mapa`, …
    ToGeneric(Space, Reg, Src),
    /// Generic to an address of a space.
    FromGeneric(Space, Reg, Src),
    /// Whether a generic address is of a space.
    IsSpace(Space, Reg, Src),
    /// The address of a shared variable in another block of the cluster.
    MapA {
        /// Generic addresses.
        generic: bool,
        /// Gets the address.
        dst: Reg,
        /// The address in this block.
        addr: Src,
        /// The block's rank.
        rank: Src,
    },
    /// The rank of the block that an address lies in.
    GetRank {
        /// Generic addresses.
        generic: bool,
        /// Gets the rank.
        dst: Reg,
        /// The address.
        addr: Src,
    },
    /// `shfl.sync`
    Shuffle {
        /// Which lane is read.
        kind: Shuffle,
        /// Gets the value.
        dst: Reg,
        /// Gets whether the lane is in bounds.
        in_bounds: Option<Reg>,
        /// Value, lane or distance, and clamp with segment mask.
        src: [Src; 3],
        /// The member mask.
        members: Src,
    },
    /// `vote.sync`
    Vote {
        /// What is asked.
        kind: Vote,
        /// Gets the answer.
        dst: Reg,
        /// The predicate.
        src: Src,
        /// The member mask.
        members: Src,
    },
    /// `match.sync`
    Match {
        /// `.all` instead of `.any`.
        all: bool,
        /// Gets the lanes.
        dst: Reg,
        /// Gets whether all are equal.
        all_equal: Option<Reg>,
        /// The value.
        src: Src,
        /// The member mask.
        members: Src,
    },
    /// `redux.sync`
    Redux {
        /// How two values combine.
        function: Scalar,
        /// Gets the result.
        dst: Reg,
        /// The value.
        src: Src,
        /// The member mask.
        members: Src,
    },
    /// `activemask`
    ActiveMask(Reg),
    /// `elect.sync`
    Elect {
        /// Gets the leader's lane.
        dst: Option<Reg>,
        /// Gets whether the lane is the leader.
        is_leader: Option<Reg>,
        /// The member mask.
        members: Src,
    },
    /// `bar.warp.sync`
    WarpSync(Src),
    /// `bar`, `barrier`
    Bar {
        /// What it does.
        kind: Bar,
        /// All lanes of the warp must be together.
        aligned: bool,
        /// Number.
        id: Src,
        /// Threads; all of the block if none.
        count: Option<Src>,
        /// Predicate and result of a reduction.
        reduce: Option<(Reg, Src)>,
    },
    /// `barrier.cluster.arrive`; releases or not.
    ClusterArrive {
        /// All lanes of the warp must be together.
        aligned: bool,
        /// `.release`
        release: bool,
    },
    /// `barrier.cluster.wait`
    ClusterWait {
        /// All lanes of the warp must be together.
        aligned: bool,
    },
    /// `fence`, `membar`
    Fence(Fence),
    /// `fence.proxy.async`
    ProxyFence(ProxySpaces),
    /// `fence.mbarrier_init`
    MbarrierInitFence,
    /// `ldmatrix`
    LoadMatrix {
        /// Get the fragments.
        dst: Box<[Reg]>,
        /// Where from.
        window: Window,
        /// The address of a row.
        addr: Addr,
        /// `.trans`
        transposed: bool,
    },
    /// `stmatrix`
    StoreMatrix {
        /// The fragments.
        src: Box<[Src]>,
        /// Where to.
        window: Window,
        /// The address of a row.
        addr: Addr,
        /// `.trans`
        transposed: bool,
    },
    /// `movmatrix`
    MoveMatrix(Reg, Src),
    /// `mma.sync`
    Mma {
        /// Shape and types.
        form: crate::matrix::Mma,
        /// Get the result.
        d: Box<[Reg]>,
        /// Fragments of a, b and c.
        abc: [Box<[Src]>; 3],
    },
    /// `cp.async`: destination, source, bytes, bytes that are read, and whether to ignore the source.
    CopyAsync {
        /// In shared memory.
        dst: Addr,
        /// In global memory.
        src: Addr,
        /// Bytes.
        bytes: u8,
        /// Bytes that are read; the others are zero.
        read: Option<Src>,
        /// Reads nothing if set.
        ignore: Option<Src>,
    },
    /// `cp.async.commit_group`
    CopyCommit,
    /// `cp.async.wait_group N`; all if none.
    CopyWait(Option<u32>),
    /// `mbarrier.*`
    Mbarrier(Window, Addr, MbarrierOp),
    /// `st.async`, `red.async`
    AsyncStore(Box<AsyncStore>),
    /// `cp.async.bulk*`, `cp.reduce.async.bulk*`
    BulkCopy(Box<BulkCopy>),
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group`
    BulkWait {
        /// The most groups that may be in flight afterwards.
        pending: u32,
        /// `.read`: only until the sources are read.
        read: bool,
    },
    /// `wgmma.fence`
    WgmmaFence,
    /// `wgmma.commit_group`
    WgmmaCommit,
    /// `wgmma.wait_group`
    WgmmaWait(u32),
    /// `wgmma.mma_async`
    Wgmma(Box<WgmmaOp>),
    /// `setmaxnreg`
    SetMaxRegisters {
        /// `.inc` instead of `.dec`.
        increase: bool,
        /// Registers of a thread.
        count: u32,
    },
}

/// What an instruction counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Arithmetic, conversions, moves, and exchange between lanes.
    Arithmetic,
    /// Branches, barriers, fences, waits.
    Control,
    /// Accesses to memory.
    Memory,
    /// Matrix products.
    Matrix,
}

impl Op {
    /// What it counts as.
    pub fn class(&self) -> Class {
        match self {
            Op::Alu(..)
            | Op::Extend { .. }
            | Op::Test(..)
            | Op::Alu4(..)
            | Op::Divide { .. }
            | Op::Carry { .. }
            | Op::Setp { .. }
            | Op::Set { .. }
            | Op::Move(..)
            | Op::Lop3 { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::ToGeneric(..)
            | Op::FromGeneric(..)
            | Op::IsSpace(..)
            | Op::MapA { .. }
            | Op::GetRank { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Redux { .. }
            | Op::ActiveMask(_)
            | Op::Elect { .. }
            | Op::MoveMatrix(..) => Class::Arithmetic,
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Atom { .. }
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::CopyAsync { .. }
            | Op::AsyncStore(_)
            | Op::BulkCopy(_) => Class::Memory,
            Op::Mma { .. } | Op::Wgmma(_) => Class::Matrix,
            Op::Nop
            | Op::Branch(_)
            | Op::Exit
            | Op::Trap
            | Op::Print { .. }
            | Op::AssertFail(_)
            | Op::Call(_)
            | Op::Return(_)
            | Op::WarpSync(_)
            | Op::Bar { .. }
            | Op::ClusterArrive { .. }
            | Op::ClusterWait { .. }
            | Op::Fence(_)
            | Op::ProxyFence(_)
            | Op::MbarrierInitFence
            | Op::CopyCommit
            | Op::CopyWait(_)
            | Op::Mbarrier(..)
            | Op::BulkCommit
            | Op::BulkWait { .. }
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait(_)
            | Op::SetMaxRegisters { .. } => Class::Control,
        }
    }
}
